import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rejectionName } from '#ledger/retries/claims.js'
import type { Candidate } from '#rejections/find-rejections.js'
import { cutIntoRequests, planRetry } from '#rejections/plan-retry.js'

const candidate = (over: Partial<Candidate> = {}): Candidate => ({
  batchId: randomUUID(),
  index: 0,
  org: 'acme',
  type: 'offers',
  rejectedAt: new Date(0),
  version: 8192,
  truncated: false,
  bytes: 100,
  values: 10,
  id: randomUUID(),
  superseded: false,
  supersededBy: null,
  ...over,
})

describe('what is to be done with a rejection', () => {
  const plain = candidate()
  const superseded = candidate({ superseded: true })
  const truncated = candidate({ truncated: true })
  // Its own retry is what superseded it.
  const accepted = candidate({ superseded: true })
  const refused = candidate()
  const held = candidate()
  const all = [plain, superseded, truncated, accepted, refused, held]
  const retries = new Map([
    [rejectionName(accepted), { outcome: 'accepted' as const }],
    [rejectionName(refused), { outcome: 'refused' as const }],
    [rejectionName(held), { outcome: null }],
  ])

  it('sends what is whole, was not overtaken and was never retried', () =>
    expect(planRetry(all, retries, { evenSuperseded: false })).toEqual({
      toSend: [plain],
      superseded: 1,
      truncated: 1,
      alreadyRetried: 2,
      underWay: 1,
      lookedAt: 6,
    }))

  it('ends at the first that there is no room for', () => {
    const another = candidate()
    expect(
      planRetry([plain, superseded, another, truncated], retries, { evenSuperseded: false, room: 1 }),
    ).toMatchObject({
      ...{ toSend: [plain], superseded: 1, truncated: 0, lookedAt: 2 },
    })
  })

  it('overwrites what is newer only when it is told to, and retries nothing twice even then', () =>
    expect(planRetry(all, retries, { evenSuperseded: true })).toMatchObject({
      toSend: [plain, superseded],
      alreadyRetried: 2,
    }))
})

describe('requests', () => {
  const anyCandidate = fc.record({
    org: fc.constantFrom('a', 'b'),
    type: fc.constantFrom('offers', 'courses'),
    bytes: fc.integer({ min: 2, max: 2_000_000 }),
    values: fc.integer({ min: 1, max: 65_536 }),
  })

  it('keep the order, hold one organisation and type each, and stay within the limits of the edge', () =>
    fc.assert(
      fc.property(fc.array(anyCandidate, { maxLength: 60 }), (given) => {
        const candidates = given.map(candidate)
        const requests = cutIntoRequests(candidates, (type) => (type === 'courses' ? 3 : 7))
        expect(requests.flat()).toEqual(candidates)
        for (const request of requests) {
          expect(new Set(request.map(({ org, type }) => `${org}/${type}`)).size).toBe(1)
          expect(request.length).toBeLessThanOrEqual(request[0]?.type === 'courses' ? 3 : 7)
          if (request.length === 1) continue
          expect(request.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(16 * 1024 * 1024)
          expect(request.reduce((sum, { values }) => sum + values, 0)).toBeLessThan(200_000)
        }
      }),
    ))

  it('are as few as the limits allow', () => {
    const courses = Array.from({ length: 2500 }, () => candidate({ type: 'courses' }))
    expect(cutIntoRequests(courses, () => 1000).map(({ length }) => length)).toEqual([1000, 1000, 500])
  })
})
