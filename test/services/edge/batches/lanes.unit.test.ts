import fc from 'fast-check'
import { expect, it } from 'vitest'
import { batchIdsOf, toNoted } from '#ledger/requests.js'
import { laneOf } from '#platform/kafka/partitions.js'
import { createBatchCodec, createIdOf, createValuesEncoder } from '#schemas/byte-path/byte-path.js'
import { recordsIn, type SubmittedBatch } from '#schemas/events.js'
import { shop } from '#schemas/records/shop.js'
import { type BatchLimits, cut, toBatches } from '../../../../services/edge/batches/batches.js'
import type { Entry } from '../../../../services/edge/batches/entries.js'
import { createCutByLane } from '../../../../services/edge/batches/lanes.js'

// Few ids, so that they meet; a refused record may have an id in capitals, or none.
const id = fc.constantFrom('a1', 'b2', 'c3', 'd4', 'e5', 'f6', 'a7', 'b8')
const encode = createValuesEncoder(shop)
const valid = fc.tuple(id, fc.string({ maxLength: 2000 })).map(([shop_id, name]): Entry => {
  const nothing = { is_public: null, created: null, updated: null, is_deleted: null }
  const avro = encode({ ...nothing, shop_id, name, region: 'GB' })
  return { index: 0, keyedSha256: null, avro, at: 0, size: avro.length }
})
const refused = fc
  .tuple(
    fc.nat(3000),
    fc.option(
      fc.oneof(
        id,
        id.map((text) => text.toUpperCase()),
      ),
    ),
  )
  .map(([size, given]): Entry => ({ size, refusal: { id: given, problems: [], record: '{}', truncated: false } }))
const entries: fc.Arbitrary<Entry[]> = fc.array(fc.oneof(valid, refused), { minLength: 1, maxLength: 100 })
const limits: fc.Arbitrary<BatchLimits> = fc.record({
  records: fc.integer({ min: 1, max: 20 }),
  bytes: fc.integer({ min: 1, max: 9000 }),
})
const lanes = fc.integer({ min: 1, max: 8 })
const facts = { orgId: 'acme', requestId: '0190', bodySha256: Buffer.alloc(32), submittedAt: 0, type: 'shops' }

const codec = createBatchCodec(shop)
const cutByLane = createCutByLane(shop)
// The records of a batch are completed in place: each cut needs records of its own.
const copiesOf = (given: readonly Entry[]): Entry[] => given.map((entry) => ({ ...entry }))

/** As integrity reads them, and the lane that the edge publishes them to. */
const batchesOf = (given: readonly Entry[], most: BatchLimits, count: number) => {
  const { slices, ...howCut } = cutByLane(copiesOf(given), most, count)
  const batches = toBatches(slices, { ...facts, lanes: count }, howCut)
  return batches.map((batch) => ({ ...codec.decode(codec.encode(batch)), lane: batch.lane }))
}

/** Each record of a batch as [its index in the request, its id], in the order of the batch. */
const placesOf = ({ first_index, records, refusals }: SubmittedBatch): [number, string | null][] =>
  [
    ...records.map(({ index, shop_id }): [number, string | null] => [index, String(shop_id)]),
    ...refusals.map(({ index, id: given }): [number, string | null] => [index, given]),
  ]
    .sort(([a], [b]) => a - b)
    .map(([index, given]) => [first_index + index, given])

const readId = createIdOf(shop)
const idOf = (entry: Entry): string | null => ('refusal' in entry ? entry.refusal.id : readId(entry))

it('puts every record into one batch of its lane, under its index in the request, and keeps the order within a lane', () => {
  fc.assert(
    fc.property(entries, limits, lanes, (given, most, count) => {
      const batches = batchesOf(given, most, count)
      const inLane = new Map<number, number[]>()
      for (const batch of batches) {
        const places = placesOf(batch)
        const [lane, ...others] = new Set(places.map(([, each]) => laneOf(each, count)))
        expect([others, batch.lane]).toEqual([[], lane])
        expect(recordsIn(batch)).toBeLessThanOrEqual(most.records)
        inLane.set(lane ?? 0, [...(inLane.get(lane ?? 0) ?? []), ...places.map(([place]) => place)])
      }
      for (const places of inLane.values()) expect(places).toEqual([...places].sort((a, b) => a - b))
      const all = batches.flatMap(placesOf).sort(([a], [b]) => a - b)
      expect(all).toEqual(given.map((entry, place) => [place, idOf(entry)]))
      expect(batches.map(({ batch }) => batch)).toEqual(batches.map((_, i) => i + 1))
      expect(batches.every((batch) => batch.batches === batches.length)).toBe(true)
    }),
  )
})

it('names the batches as the note of the request does, and those of another number of lanes differently', () => {
  fc.assert(
    fc.property(entries, limits, lanes, (given, most, count) => {
      const batches = batchesOf(given, most, count)
      const ids = batches.map(({ batch_id }) => batch_id)
      expect(batchIdsOf(toNoted({ ...facts, lanes: count }, batches))).toEqual(ids)
      expect(new Set(ids).size).toBe(ids.length)
      const others = batchesOf(given, most, count + 1).map(({ batch_id }) => batch_id)
      expect(ids.filter((each) => others.includes(each))).toEqual([])
    }),
  )
})

it('cuts as ever where there is one lane', () => {
  fc.assert(
    fc.property(entries, limits, (given, most) => {
      const asEver = toBatches(cut(copiesOf(given), most), facts).map((batch) => ({
        ...codec.decode(codec.encode(batch)),
        lane: 0,
      }))
      expect(batchesOf(given, most, 1)).toEqual(asEver)
    }),
  )
})
