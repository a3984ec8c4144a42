import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type BatchLimits, cut, toBatches } from '../../../../services/edge/batches/batches.js'
import type { Entry } from '../../../../services/edge/batches/entries.js'

const entry = fc
  .nat(3000)
  .map((size): Entry => ({ index: 0, keyedSha256: null, avro: Buffer.alloc(size), at: 0, size }))
const refused = fc
  .nat(3000)
  .map((size): Entry => ({ size, refusal: { id: null, problems: [], record: '{}', truncated: false } }))
const entries: fc.Arbitrary<Entry[]> = fc.array(fc.oneof(entry, refused), { maxLength: 200 })
const limits: fc.Arbitrary<BatchLimits> = fc.record({
  records: fc.integer({ min: 1, max: 50 }),
  bytes: fc.integer({ min: 1, max: 9000 }),
})
const bytesOf = (slice: readonly Entry[]) => slice.reduce((sum, { size }) => sum + size, 0)
const request = { orgId: 'acme', requestId: '0190', bodySha256: Buffer.alloc(32), submittedAt: 0 }

it('cuts into slices that give back the records and keep both limits, and no slice could have been longer', () => {
  fc.assert(
    fc.property(entries, limits, (given, most) => {
      const slices = cut(given, most)
      expect(slices.flat()).toEqual(given)
      for (const [i, slice] of slices.entries()) {
        expect(slice.length).toBeGreaterThan(0)
        expect(slice.length).toBeLessThanOrEqual(most.records)
        expect(slice.length === 1 || bytesOf(slice) <= most.bytes).toBe(true)
        const next = slices[i + 1]?.[0]
        expect(!next || slice.length === most.records || bytesOf(slice) + next.size > most.bytes).toBe(true)
      }
    }),
  )
})

it('gives every record a place in its batch, and every batch a place in its request', () => {
  fc.assert(
    fc.property(entries, limits, (given, most) => {
      const batches = toBatches(cut(given, most), request)
      const places = batches.flatMap(({ first_index, records, refusals }) => {
        const ofBatch = [...records, ...refusals].map(({ index }) => index).sort((a, b) => a - b)
        return ofBatch.map((index) => first_index + index)
      })
      expect(places).toEqual(given.map((_, i) => i))
      expect(batches.map(({ batch }) => batch)).toEqual(batches.map((_, i) => i + 1))
      expect(batches.every(({ batches: count }) => count === batches.length)).toBe(true)
      expect(new Set(batches.map(({ batch_id }) => batch_id)).size).toBe(batches.length)
    }),
  )
})
