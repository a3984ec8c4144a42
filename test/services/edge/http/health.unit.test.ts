import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createReadiness } from '#platform/health/health.js'
import { createMetrics } from '#platform/health/metrics.js'
import { createFigures } from '../../../../services/edge/figures.js'
import { peerChecks, readPeerMetrics } from '../../../../services/edge/http/health.js'

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
