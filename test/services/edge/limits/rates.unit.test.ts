import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createMetrics } from '#platform/health/metrics.js'
import { shop } from '#schemas/records/shop.js'
import type { AppDeps } from '../../../../services/edge/app.js'
import { createFigures } from '../../../../services/edge/figures.js'
import {
  type Bucket,
  createRateLimits,
  type Rate,
  type Rates,
  rateOf,
  take,
} from '../../../../services/edge/limits/rates.js'
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
  const { send, clock, text } = create({ requests: 1, records: 0, bytes: 0 })
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
  const { send } = create({ requests: 1, records: 0, bytes: 0 })
  for (let i = 0; i < 5; i++) await send('GET', somewhere)
  const forged = { 'x-forwarded-for': '10.1.2.3', forwarded: 'for=10.1.2.3', 'x-real-ip': '10.1.2.3' }
  expect((await send('GET', somewhere, undefined, forged)).status).toBe(429)
  expect((await send('GET', somewhere, undefined, { authorization: 'Bearer other-key' })).status).toBe(404)
  expect((await send('GET', somewhere, undefined, { authorization: 'Bearer wrong' })).status).toBe(401)
})

it('counts records, and lets a full upload through however low the limit', async () => {
  const { send, submit, clock } = create({ requests: 0, records: 100, bytes: 0 }, { bodyLimit: 16 * 1024 * 1024 })
  expect((await send('POST', '/v1/data/shops', shops(5000))).status).toBe(200)
  const { status, headers, body } = await send('POST', '/v1/data/shops', shops(150))
  expect([status, headers['retry-after'], headers['ratelimit-limit']]).toEqual([429, '2', '5000'])
  expect(body.message).toBe('this API key may send 100 records a second; try again in 2 s')
  expect(submit.submitted).toHaveLength(10)
  clock.ms = 2000
  expect((await send('POST', '/v1/data/shops', shops(150))).status).toBe(200)
})

it('counts the bytes of a body as they are after decompression, also of one that is no JSON', async () => {
  const { send, submit, clock } = create({ requests: 0, records: 0, bytes: 20_000 })
  const packed = { 'content-encoding': 'gzip' }
  const newlines = gzipSync('\n'.repeat(60_000))
  expect(newlines.length).toBeLessThan(200)
  expect((await send('POST', '/v1/data/shops', newlines, packed)).status).toBe(400)
  const refused = await send('POST', '/v1/data/shops', newlines, packed)
  expect([refused.status, refused.headers['retry-after']]).toEqual([429, '1'])
  expect(refused.body.message).toBe('this API key may send 20000 bytes a second; try again in 1 s')
  expect((await send('POST', '/v1/data/shops', shops(1))).status).toBe(200)
  clock.ms = 1500
  expect((await send('POST', '/v1/data/shops', newlines, packed)).status).toBe(400)
  expect(submit.submitted).toHaveLength(1)
})

it("takes an organisation's own limits before everybody's", async () => {
  const { send, callers } = create({ requests: 1, records: 0, bytes: 0 })
  callers.set('acme-key', { orgId: 'acme', keyId: 'k1', scopes: null, rates: { requests: 2, records: null } })
  expect((await send('GET', somewhere)).headers['ratelimit-limit']).toBe('10')
  callers.set('acme-key', { orgId: 'acme', keyId: 'k1', scopes: null, rates: { requests: 0, records: null } })
  expect((await send('GET', somewhere)).headers['ratelimit-limit']).toBeUndefined()
})

it('counts all who need no key as one', async () => {
  const { app } = create({ requests: 1, records: 0, bytes: 0 }, { openOrg: 'acme' })
  const post = () => app.inject({ method: 'POST', url: '/user-interactions', payload: {} })
  for (let i = 0; i < 5; i++) expect((await post()).statusCode).toBe(400)
  expect((await post()).statusCode).toBe(429)
})

it('never counts those who look after it', async () => {
  const { send } = create({ requests: 1, records: 1, bytes: 0 })
  for (let i = 0; i < 20; i++) {
    expect((await send('GET', '/healthz')).status).toBe(200)
    expect((await send('GET', '/openapi.json')).status).toBe(200)
  }
})

const rate: Rate = { perSecond: 10, burst: 50 }

/** What was allowed of calls that come `after` milliseconds each. */
const allowedOf = (calls: { after: number; cost: number }[], by: Rate): { allowed: number; now: number } => {
  let bucket: Bucket | undefined
  let now = 0
  let allowed = 0
  for (const { after, cost } of calls) {
    now += after
    const taken = take(bucket, by, now, cost)
    bucket = taken.bucket
    if (taken.allowed) allowed += cost
  }
  return { allowed, now }
}

describe('a bucket', () => {
  it('never allows more than it holds and what flows in', () => {
    const rates = fc.record({ perSecond: fc.integer({ min: 1, max: 1000 }), burst: fc.integer({ min: 50, max: 5000 }) })
    const calls = fc.array(fc.record({ after: fc.nat(2000), cost: fc.integer({ min: 1, max: 50 }) }))
    fc.assert(
      fc.property(rates, calls, (by, given) => {
        const { allowed, now } = allowedOf(given, by)
        expect(allowed).toBeLessThanOrEqual(by.burst + (now / 1000) * by.perSecond + 1e-6)
      }),
    )
  })

  it('allows all of a client that keeps to the rate', () => {
    const calls = Array.from({ length: 1000 }, () => ({ after: 1000, cost: 10 }))
    expect(allowedOf(calls, rate).allowed).toBe(10_000)
  })

  it('allows what it refused once the time that it told is over', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500 }), fc.integer({ min: 1, max: 500 }), (first, second) => {
        const { bucket } = take(undefined, rate, 0, first)
        const refused = take(bucket, rate, 0, second)
        fc.pre(!refused.allowed)
        const later = take(refused.bucket, rate, Math.ceil(refused.retryAfter) * 1000, second)
        expect(later.allowed).toBe(true)
      }),
    )
  })

  it('is not emptied by a refusal', () => {
    const { bucket } = take(undefined, rate, 0, 30)
    expect(take(bucket, rate, 0, 21)).toMatchObject({ allowed: false, retryAfter: 0.1, bucket: { tokens: 20 } })
    expect(take(bucket, rate, 0, 20)).toMatchObject({ allowed: true, retryAfter: 0, fullAfter: 5 })
  })

  it('goes on when the clock is set back', () => {
    const { bucket } = take(undefined, rate, 1_000_000, 50)
    const set = take(bucket, rate, 0, 1)
    expect(set.allowed).toBe(false)
    expect(take(set.bucket, rate, 100, 1).allowed).toBe(true)
  })
})

describe('a rate', () => {
  const defaults = { requests: 10, records: 100, bytes: 1000 }
  it("is the organisation's own, or everybody's", () => {
    expect(rateOf('requests', defaults, undefined)).toEqual({ perSecond: 10, burst: 50 })
    expect(rateOf('requests', defaults, { requests: null, records: 7 })).toEqual({ perSecond: 10, burst: 50 })
    expect(rateOf('requests', defaults, { requests: 7, records: null })).toEqual({ perSecond: 7, burst: 35 })
  })
  it('lets one full upload through, however low it is', () =>
    expect(rateOf('records', defaults, { requests: null, records: 1 })).toEqual({ perSecond: 1, burst: 5000 }))
  it('of 0 is none', () => {
    expect(rateOf('records', { requests: 0, records: 0, bytes: 0 }, undefined)).toBeUndefined()
    expect(rateOf('records', defaults, { requests: null, records: 0 })).toBeUndefined()
  })
})
