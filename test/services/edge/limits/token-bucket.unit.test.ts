import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rateOf } from '../../../../services/edge/limits/rates.js'
import { type Bucket, type Rate, take } from '../../../../services/edge/limits/token-bucket.js'

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
  const defaults = { requests: 10, records: 100 }
  it("is the organisation's own, or everybody's", () => {
    expect(rateOf('requests', defaults, undefined)).toEqual({ perSecond: 10, burst: 50 })
    expect(rateOf('requests', defaults, { requests: null, records: 7 })).toEqual({ perSecond: 10, burst: 50 })
    expect(rateOf('requests', defaults, { requests: 7, records: null })).toEqual({ perSecond: 7, burst: 35 })
  })
  it('lets one full upload through, however low it is', () =>
    expect(rateOf('records', defaults, { requests: null, records: 1 })).toEqual({ perSecond: 1, burst: 5000 }))
  it('of 0 is none', () => {
    expect(rateOf('records', { requests: 0, records: 0 }, undefined)).toBeUndefined()
    expect(rateOf('records', defaults, { requests: null, records: 0 })).toBeUndefined()
  })
})
