import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { thisBuild } from '#platform/health/build.js'
import { createReadiness, type Readiness } from '#platform/health/health.js'
import { createMetrics } from '#platform/health/metrics.js'
import { createFigures } from '../../../../services/edge/figures.js'
import { createOperationsApp, peerChecks, readPeerMetrics, shareHealth } from '../../../../services/edge/http/health.js'
import { createEdge } from '../edge.js'

const broken = { status: 'not_ready', parts: { clickhouse: { ok: false, problem: 'refused' }, kafka: { ok: true } } }
let peer: Server
let peers: Map<string, string>

beforeAll(async () => {
  peer = createServer((request, response) =>
    request.url === '/metrics' ? response.end('weir_sink_rows 1') : response.writeHead(503).end(JSON.stringify(broken)),
  )
  await new Promise<void>((resolve) => peer.listen(0, '127.0.0.1', resolve))
  const { port } = peer.address() as AddressInfo
  peers = new Map([
    ['sink', `http://127.0.0.1:${port}`],
    ['gone', 'http://127.0.0.1:1'],
  ])
})
afterAll(() => void peer.close())

it('says which part a peer complains about', async () => {
  const { parts } = await createReadiness(peerChecks(peers))()
  expect(parts.sink).toEqual({ ok: false, problem: 'clickhouse: refused' })
  expect(parts.gone).toMatchObject({ ok: false })
})

it('overlooks what does not count, and nothing else', async () => {
  const overlooking = (...names: string[]) => createReadiness(peerChecks(peers, names))()
  expect((await overlooking('clickhouse')).parts).toMatchObject({ sink: { ok: true }, gone: { ok: false } })
  expect((await overlooking('kafka')).parts.sink).toEqual({ ok: false, problem: 'clickhouse: refused' })
})

it('shows the figures of the peers that answer', async () => {
  const metrics = createMetrics('edge')
  expect(await readPeerMetrics(peers, createFigures(metrics))).toEqual(['weir_sink_rows 1'])
  const text = await metrics.text()
  expect(text).toContain('weir_edge_peer_up{peer="sink"} 1')
  expect(text).toContain('weir_edge_peer_up{peer="gone"} 0')
})

it('asks its parts once, however many ask it at the same time', async () => {
  const asked = { everything: 0, uploads: 0, metrics: 0 }
  const count = (what: keyof typeof asked) => async (): Promise<Readiness> => {
    asked[what]++
    return { status: 'ready', parts: {} }
  }
  const health = shareHealth({
    readiness: { everything: count('everything'), uploads: count('uploads') },
    metricsText: async () => `asked ${++asked.metrics}`,
  })
  const { send } = createEdge(health)
  const paths = ['/readyz', '/readyz?for=uploads', '/metrics']
  const answers = await Promise.all(Array.from({ length: 30 }, (_, i) => send('GET', paths[i % 3] ?? '')))
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  expect(asked).toEqual({ everything: 1, uploads: 1, metrics: 1 })
})

it('shows the public only whether it is ready, where operators have a port of their own', async () => {
  const parts = { clickhouse: { ok: false as const, problem: '10.0.0.7 refused' } }
  const health = {
    readiness: {
      everything: async () => ({ status: 'not_ready' as const, parts }),
      uploads: async () => ({ status: 'ready' as const, parts: {} }),
    },
    metricsText: async () => 'weir_edge_x 1',
  }
  const { send } = createEdge({ ...health, hasOperationsPort: true })
  expect(await send('GET', '/readyz')).toMatchObject({ status: 503, body: { status: 'not_ready' } })
  expect((await send('GET', '/readyz')).body).not.toHaveProperty('parts')
  expect(await send('GET', '/readyz?for=uploads')).toMatchObject({ status: 200, body: { status: 'ready' } })
  expect((await send('GET', '/healthz')).body).toEqual({ status: 'ok' })
  expect(await send('GET', '/metrics')).toMatchObject({
    status: 404,
    body: { message: expect.stringContaining('OPERATIONS_PORT') },
  })

  const operations = createOperationsApp(health)
  const get = async (url: string) => (await operations.inject({ url })).body
  expect(JSON.parse(await get('/healthz'))).toEqual({ status: 'ok', ...thisBuild() })
  expect(JSON.parse(await get('/readyz'))).toEqual({ status: 'not_ready', parts })
  expect(JSON.parse(await get('/readyz?for=uploads'))).toEqual({ status: 'ready', parts: {} })
  expect(await get('/metrics')).toBe('weir_edge_x 1')
  expect(JSON.parse(await get('/v1/data/shops'))).toMatchObject({
    error: 'Not Found',
    message: expect.stringContaining('/metrics'),
  })
})
