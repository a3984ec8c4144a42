import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { LogPosition } from '#feeds/cursor.js'
import { createReadLog, NoLongerKept, type ReadLog } from '#feeds/read-log.js'
import type { ReadRemoved } from '#feeds/read-removed.js'
import { type Generation, partitionsOfOrg } from '#ledger/layout/layout.js'
import { insertVerdicts, type StoredVerdict } from '#ledger/verdicts.js'
import { groupBy } from '#platform/group-by.js'
import type { Received } from '#platform/kafka/kafka.js'
import { placeOf } from '#platform/kafka/partitions.js'
import { inTransaction } from '#platform/postgres/postgres.js'
import { submittedTopic } from '#schemas/derive/names.js'
import type { AcceptedEvent, SubmittedBatch } from '#schemas/events.js'
import type { RecordType } from '#schemas/record.js'
import { interaction } from '#schemas/records/interaction.js'
import { offer } from '#schemas/records/offer.js'
import { shop } from '#schemas/records/shop.js'
import { mostOffsets, versionOf } from '#schemas/version.js'
import { openMigratedDatabase } from '../../support/migrated-database.js'
import { sized } from '../../support/sized.js'

const { pool } = await openMigratedDatabase()
const types = [shop, offer, interaction]

/** Two generations of the log, as after "weir lanes change": the first is over. */
const generations: Generation[] = [
  { generation: 0, lanes: 1, submittedPartitions: 2, acceptedPartitions: 2, state: 'finished', ends: {} },
  { generation: 1, lanes: 2, submittedPartitions: 3, acceptedPartitions: 2, state: 'open', ends: {} },
]

/** A batch as somebody submitted it, with how many records were accepted of how many. */
const anyBatch = fc.record({
  type: fc.constantFrom(...types),
  generation: fc.constantFrom(0, 1),
  org: fc.constantFrom('acme', 'acme', 'other'),
  lane: fc.nat({ max: 2 }),
  refused: fc.array(fc.boolean(), { minLength: 1, maxLength: 5 }),
})
type AnyBatch = typeof anyBatch extends fc.Arbitrary<infer B> ? B : never

/** Writes these batches to the log and their verdicts to Postgres, in that order; resolves to what was accepted of each organisation. */
const write = async (batches: readonly AnyBatch[]) => {
  await pool.query('truncate integrity.cursors, integrity.verdicts cascade')
  const log = new Map<string, Map<number, SubmittedBatch>>()
  const expected: { org: string; place: string; id: unknown; version: number }[] = []
  const ends = new Map<string, { topic: string; partition: number; next: number }>()
  const verdicts: StoredVerdict[] = []
  // What is finished is decided before what comes after it.
  const inOrder = [...batches].sort((a, b) => a.generation - b.generation)
  for (const [n, { type, generation, org, lane, refused }] of inOrder.entries()) {
    const layout = generations[generation] as Generation
    const own = partitionsOfOrg(type, org, layout)
    const partition = own[lane % own.length] as number
    const topic = submittedTopic(type.type, generation)
    const place = placeOf({ topic, partition })
    const offset = ends.get(place)?.next ?? generation * mostOffsets
    const batch = {
      org_id: org,
      request_id: randomUUID(),
      batch_id: randomUUID(),
      records: refused.map((_, index) => ({ index, keyed_sha256: null, [type.id]: randomUUID() })),
      refusals: [],
    } as unknown as SubmittedBatch
    log.set(place, (log.get(place) ?? new Map()).set(offset, batch))
    ends.set(place, { topic, partition, next: offset + 1 })
    for (const { index, [type.id]: id } of batch.records)
      if (!refused[index]) expected.push({ org, place, id, version: versionOf(offset, index) })
    verdicts.push({
      ...{ org_id: org, request_id: batch.request_id, batch_id: batch.batch_id, type: type.type },
      ...{ batch: 1, batches: 1, first_index: 0, body_sha256: Buffer.alloc(32), decided_at: 1_800_000_000_000 + n },
      ...{ accepted: refused.filter((each) => !each).length, repeated: [], topic, partition, submitted_offset: offset },
      refused: refused.flatMap((each, index) => (each ? [{ index, id: null, problems: [] }] : [])),
    })
  }
  await inTransaction(pool, (connection) => insertVerdicts(connection, verdicts))
  for (const { topic, partition, next } of ends.values())
    await pool.query('insert into integrity.cursors (topic, partition, next_offset) values ($1, $2, $3)', [
      topic,
      partition,
      next,
    ])
  return { log, expected }
}

const createReader = (
  log: ReadonlyMap<string, ReadonlyMap<number, SubmittedBatch>>,
  readRemoved: ReadRemoved = async () => undefined,
) =>
  createReadLog({
    ...{ pool, readRemoved },
    findGenerations: async () => generations,
    log: {
      messagesAt: async (place, offsets) => {
        const found = offsets.flatMap((offset) => {
          const batch = log.get(placeOf(place))?.get(offset)
          return batch ? [[offset, { offset, value: batch as unknown as Buffer } as Received] as const] : []
        })
        return new Map(found)
      },
    },
    decoders: {
      decoder:
        <T>() =>
        async (batch: Buffer | null) =>
          batch as T,
    },
  })

/** All that comes between two places. */
const readUntil = async (read: ReadLog, from: Positions, to: Positions): Promise<unknown[]> => {
  const ids: unknown[] = []
  for (let [at, n] = [from, 0]; ; n++) {
    const { events, positions, isEnd } = await read('acme', at, 9, to)
    ids.push(...events.map(({ type, event }) => event[type.id]))
    if (isEnd) return ids
    at = positions
    expect(n).toBeLessThan(100)
  }
}
type Positions = ReadonlyMap<RecordType, LogPosition>

const begin = () => new Map(types.map((type): [typeof type, LogPosition] => [type, { generation: 0, next: {} }]))

it('hands over what was accepted for one organisation, all of it, each once, in the order of each partition', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyBatch, { maxLength: 25 }),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 }),
      async (batches, limits) => {
        const { log, expected } = await write(batches)
        const read = createReader(log)
        let positions: Positions = begin()
        const got: unknown[] = []
        const pages: { from: typeof positions; ids: unknown[]; to: typeof positions }[] = []
        for (let n = 0; ; n++) {
          const most = limits[n % limits.length] ?? 1
          const page = await read('acme', positions, most)
          expect(page.events.length).toBeLessThanOrEqual(most)
          for (const { type, event } of page.events) got.push(event[type.id])
          const from = positions
          // As a cursor would keep them.
          positions = new Map([...page.positions].map(([type, each]) => [type, JSON.parse(JSON.stringify(each))]))
          pages.push({ from, ids: page.events.map(({ type, event }) => event[type.id]), to: positions })
          if (page.isEnd) break
          expect(n).toBeLessThan(500)
        }
        // A page comes again as it was, whatever was decided after it.
        for (const { from, ids, to } of pages.slice(0, 3)) expect(await readUntil(read, from, to)).toEqual(ids)
        const own = expected.filter(({ org }) => org === 'acme')
        expect([...got].sort()).toEqual(own.map(({ id }) => id).sort())
        // Of each partition in its order.
        const inOrder = got.map((each) => own.find(({ id }) => id === each))
        for (const [place, here] of groupBy(own, (each) => each.place))
          expect(inOrder.filter((each) => each?.place === place)).toEqual(here)
        // Nothing of the lanes of now comes before all of the lanes of before, type by type.
        for (const { type } of types) {
          const generationsOf = inOrder
            .filter((each) => each?.place.includes(`.${type}`))
            .map((each) => Number(each?.place.includes('.g1/')))
          expect(generationsOf).toEqual([...generationsOf].sort())
        }
        expect((await read('acme', positions, 10)).events).toEqual([])
      },
    ),
    { numRuns: sized(60, 600) },
  )
}, 120_000)

const one: AnyBatch = { type: shop, generation: 0, org: 'acme', lane: 0, refused: [false, false] }

it('says so where verdicts or batches are gone that come next, and not where all that is gone is behind the reader', async () => {
  const { log } = await write([one, one, one])
  const read = createReader(log)
  const from = (offset: number) =>
    new Map([[shop, { generation: 0, next: { 0: versionOf(offset, 0), 1: versionOf(offset, 0) } }]])
  await pool.query('update integrity.cursors set pruned_until = 2')
  await expect(read('acme', from(1), 10)).rejects.toThrow(NoLongerKept)
  expect((await read('acme', from(2), 10)).events).toHaveLength(2)
  for (const batches of log.values()) batches.delete(2)
  await expect(read('acme', from(2), 10)).rejects.toThrow(NoLongerKept)
})

it('ends at a place that it is given, however much comes after it', async () => {
  const { log } = await write(Array.from({ length: 250 }, () => one))
  const read = createReader(log)
  const from = new Map([[shop, { generation: 0, next: {} }]])
  const { events, positions } = await read('acme', from, 3)
  expect(await readUntil(read, from, positions)).toEqual(events.map(({ event }) => event.shop_id))
})

it('does not take another batch for the one that was decided: the log may have been cut, and have grown again', async () => {
  const { log } = await write([one])
  for (const batches of log.values()) for (const batch of batches.values()) batch.batch_id = randomUUID()
  await expect(createReader(log)('acme', begin(), 10)).rejects.toThrow(NoLongerKept)
})

it('moves on with the partition where nothing comes for the organisation, so that nothing has to be kept for it', async () => {
  const { log } = await write([one, { ...one, org: 'other' }, { ...one, org: 'other', refused: [true] }])
  const { positions } = await createReader(log)('nobody', new Map([[shop, { generation: 0, next: {} }]]), 10)
  expect(positions.get(shop)?.generation).toBe(1)
})

it('goes on where an erasure took a batch out of the log, with what others had in it; and never between two of the same version', async () => {
  const { log, expected } = await write([one, one, one])
  for (const batches of log.values()) batches.delete(1)
  // A record that stayed without its person has the version after its own, which is that of the next record.
  const left = [0, 2, 2].map((index, n) => ({ shop_id: `left ${n}`, version: versionOf(1, index) }))
  const read = createReader(log, async (_, { topic }, { offset }) =>
    topic === submittedTopic('shops', 0) && offset === 1 ? (left as unknown as AcceptedEvent[]) : undefined,
  )
  const ids = expected.map(({ id }) => id)
  for (const most of [1, 2, 3, 4, 5, 10]) {
    const got: unknown[] = []
    for (let at: Positions = new Map([[shop, { generation: 0, next: {} }]]); ; ) {
      const { events, positions, isEnd } = await read('acme', at, most)
      expect(events.length).toBeLessThanOrEqual(most + 1)
      got.push(...events.map(({ event }) => event.shop_id))
      at = positions
      if (isEnd) break
    }
    expect(got).toEqual([...ids.slice(0, 2), 'left 0', 'left 1', 'left 2', ...ids.slice(4)])
  }
})
