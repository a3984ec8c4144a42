import { expect, it } from 'vitest'
import { Unavailable } from '#http/request-error.js'
import { thisBuild } from '#platform/health/build.js'
import { usualLayout } from '#schemas/derive/topics.js'
import { createEdge } from '../edge.js'

const { send } = createEdge()
const keyless = { authorization: '' }
const get = (url: string) => send('GET', url, undefined, keyless)

it('tells its health without a key', async () => {
  expect(await get('/healthz')).toMatchObject({ status: 200, body: { status: 'ok', ...thisBuild() } })
  expect((await send('HEAD', '/healthz', undefined, keyless)).status).toBe(200)
  expect(await get('/readyz')).toMatchObject({
    status: 503,
    body: { parts: { clickhouse: { ok: false, problem: 'away' } } },
  })
  expect((await get('/readyz?for=uploads')).status).toBe(200)
  expect((await get('/readyz?for=nothing')).status).toBe(400)
})

it('counts requests by route, method and status', async () => {
  const { body } = await get('/metrics')
  expect(body).toContain('weir_edge_requests_total{route="/healthz",method="GET",status="200"} 1')
})

it('serves its document, and a page that shows it without asking anybody else', async () => {
  expect((await get('/openapi.json')).body).toMatchObject({ openapi: '3.1.0', paths: { '/v1/data/shops': {} } })
  const page = await get('/docs')
  expect(page.status).toBe(200)
  expect(page.headers['content-security-policy']).toContain("default-src 'self'")
  const assets = [...String(page.body).matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address ?? '')
  expect(assets.length).toBeGreaterThan(3)
  for (const address of assets) {
    expect(address).not.toMatch(/^(https?:)?\/\//)
    expect((await get(new URL(address, 'http://edge/docs').pathname)).status, address).toBe(200)
  }
})

it('tells of the topics, as soon as it knows how many partitions they have', async () => {
  const { status, headers, body } = await get('/asyncapi.yaml')
  expect([status, headers['content-type']]).toEqual([200, 'application/yaml; charset=utf-8'])
  expect(body).toMatch(/^asyncapi: 3\.0\.0\n.*weir\.accepted\.shops.*\n$/s)
  expect((await send('HEAD', '/asyncapi.yaml', undefined, keyless)).headers['content-length']).toBe(
    String(Buffer.byteLength(String(body))),
  )

  let isKnown = false
  const starting = createEdge({
    layout: () => {
      if (!isKnown) throw new Unavailable('the service is starting')
      return { ...usualLayout, acceptedPartitions: 5 }
    },
  })
  const ask = () => starting.send('GET', '/asyncapi.yaml', undefined, keyless)
  expect((await ask()).status).toBe(503)
  isKnown = true
  expect((await ask()).body).toContain('partitions: 5\n')
})

it('ends answers in a newline, for terminals, and counts it', async () => {
  const { app } = createEdge()
  const key = { authorization: 'Bearer acme-key' }
  for (const url of ['/healthz', '/readyz', '/openapi.json', '/nowhere', '/v1/data/shops', '/v1/requests/x']) {
    const { body, headers } = await app.inject({ url, headers: key })
    expect(body, url).toMatch(/\}\n$/)
    expect(headers['content-length'], url).toBe(String(Buffer.byteLength(body)))
  }
  const whole = await app.inject({ url: '/healthz' })
  const head = await app.inject({ method: 'HEAD', url: '/healthz' })
  expect([head.body, head.headers['content-length']]).toEqual(['', whole.headers['content-length']])
})
