import { expect, it } from 'vitest'
import { createMetrics } from '#platform/health/metrics.js'
import { shop } from '#schemas/records/shop.js'
import type { AppDeps } from '../../../../services/edge/app.js'
import { createFigures } from '../../../../services/edge/figures.js'
import { createRateLimits } from '../../../../services/edge/limits/rate-limits.js'
import type { Rates } from '../../../../services/edge/limits/rates.js'
import { sampleOf } from '../../../support/sample.js'
import { createEdge } from '../edge.js'

const create = (defaults: Rates, over: Partial<AppDeps> = {}) => {
  const clock = { ms: 0 }
  const metrics = createMetrics('edge')
  const rateLimits = createRateLimits({ defaults, figures: createFigures(metrics), now: () => clock.ms })
  return { ...createEdge({ rateLimits, ...over }), clock, text: metrics.text }
}
const shops = (count: number) => ({ records: Array.from({ length: count }, () => sampleOf(shop)) })
const somewhere = '/v1/requests/0196b3a2-0000-7000-8000-000000000000'

it('counts the requests of a key, and tells how many are left', async () => {
  const { send, clock, text } = create({ requests: 1, records: 0 })
  const first = await send('GET', somewhere)
  expect(first.status).toBe(404)
  expect(first.headers).toMatchObject({
    'ratelimit-limit': '5',
    'ratelimit-remaining': '4',
    'ratelimit-reset': '1',
  })
  for (let i = 0; i < 4; i++) await send('GET', somewhere)
  const refused = await send('POST', '/v1/data/shops', 'not even JSON')
  expect(refused).toMatchObject({
    status: 429,
    headers: { 'retry-after': '1', 'ratelimit-remaining': '0', 'ratelimit-reset': '5' },
    body: {
      error: 'Too Many Requests',
      message: 'this API key may send 1 requests a second; try again in 1 s',
      request_id: refused.headers['x-request-id'],
    },
  })
  expect(await text()).toContain('weir_edge_rate_limited_total{limit="requests"} 1')
  clock.ms = 1000
  expect((await send('GET', somewhere)).status).toBe(404)
})

it('counts by the key, whatever else a request says of itself', async () => {
  const { send } = create({ requests: 1, records: 0 })
  for (let i = 0; i < 5; i++) await send('GET', somewhere)
  const forged = { 'x-forwarded-for': '10.1.2.3', forwarded: 'for=10.1.2.3', 'x-real-ip': '10.1.2.3' }
  expect((await send('GET', somewhere, undefined, forged)).status).toBe(429)
  expect((await send('GET', somewhere, undefined, { authorization: 'Bearer other-key' })).status).toBe(404)
  expect((await send('GET', somewhere, undefined, { authorization: 'Bearer wrong' })).status).toBe(401)
})

it('counts records, and lets a full upload through however low the limit', async () => {
  const { send, submit, clock } = create({ requests: 0, records: 100 }, { bodyLimit: 16 * 1024 * 1024 })
  expect((await send('POST', '/v1/data/shops', shops(5000))).status).toBe(200)
  const { status, headers, body } = await send('POST', '/v1/data/shops', shops(150))
  expect([status, headers['retry-after'], headers['ratelimit-limit']]).toEqual([429, '2', '5000'])
  expect(body.message).toBe('this API key may send 100 records a second; try again in 2 s')
  expect(submit.submitted).toHaveLength(10)
  clock.ms = 2000
  expect((await send('POST', '/v1/data/shops', shops(150))).status).toBe(200)
})

it("takes an organisation's own limits before everybody's", async () => {
  const { send, callers } = create({ requests: 1, records: 0 })
  callers.set('acme-key', { orgId: 'acme', keyId: 'k1', scopes: null, rates: { requests: 2, records: null } })
  expect((await send('GET', somewhere)).headers['ratelimit-limit']).toBe('10')
  callers.set('acme-key', { orgId: 'acme', keyId: 'k1', scopes: null, rates: { requests: 0, records: null } })
  expect((await send('GET', somewhere)).headers['ratelimit-limit']).toBeUndefined()
})

it('counts all who need no key as one', async () => {
  const { app } = create({ requests: 1, records: 0 }, { openOrg: 'acme' })
  const post = () => app.inject({ method: 'POST', url: '/user-interactions', payload: {} })
  for (let i = 0; i < 5; i++) expect((await post()).statusCode).toBe(400)
  expect((await post()).statusCode).toBe(429)
})

it('never counts those who look after it', async () => {
  const { send } = create({ requests: 1, records: 1 })
  for (let i = 0; i < 20; i++) {
    expect((await send('GET', '/healthz')).status).toBe(200)
    expect((await send('GET', '/openapi.json')).status).toBe(200)
  }
})
