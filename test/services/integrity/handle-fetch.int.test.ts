import { pino } from 'pino'
import { expect, it } from 'vitest'
import { noGates } from '#ledger/erasures/gates.js'
import { NewerSchema } from '#platform/registry.js'
import { catalogue } from '#schemas/catalogue.js'
import type { SubmittedBatch } from '#schemas/events.js'
import { tag } from '#schemas/records/tag.js'
import { createEntityIndex } from '../../../services/integrity/entity-index.js'
import { createFetchHandler } from '../../../services/integrity/handle-fetch.js'
import type { ReadBatch } from '../../../services/integrity/read-batch.js'
import { createRoomToWait } from '../../../services/integrity/waiting/room.js'
import { batchOf, scannedBatch } from '../../support/batch.js'
import { openMigratedDatabase } from '../../support/migrated-database.js'
import { sampleOf } from '../../support/sample.js'

const { pool } = await openMigratedDatabase()
const topic = 'weir.submitted.tags'

/** Integrity's handler, of a version to which messages that begin with "newer" are of a newer schema. */
const openHandler = (partition: number, logStart = 0) => {
  const batches = new Map<string, SubmittedBatch>()
  const published: string[][] = []
  const setAside: number[] = []
  const read: ReadBatch = async (message) => {
    const batch = batches.get(String(message))
    if (!batch) throw new NewerSchema('written with a newer schema, in which records.colour is new or different')
    return scannedBatch(tag, batch)
  }
  const handle = createFetchHandler({
    catalogue,
    tools: [
      {
        type: tag,
        read,
        publish: async (outcomes) => void published.push(outcomes.map(({ batch }) => batch.batch_id)),
        keep:
          ({ message }) =>
          () =>
            message,
      },
    ],
    pool,
    lanesOf: () => 1,
    logStart: async () => logStart,
    index: createEntityIndex(100),
    gates: noGates,
    setAside: async ({ offset }) => void setAside.push(offset),
    room: createRoomToWait({ records: 10, bytes: 1_000_000 }),
    onArrived: () => {},
    refuseUnsure: () => {},
    figures: { fetched: () => {}, published: () => {}, forgotten: () => {}, waited: () => {} },
    failAt: () => {},
    log: pino({ level: 'silent' }),
  })
  const fetchFrom = (first: number, ...messages: (SubmittedBatch | 'newer')[]) =>
    handle({
      topic,
      partition,
      next: first + messages.length,
      highWatermark: first + messages.length,
      holdsPartition: () => true,
      messages: messages.map((batch, i) => {
        const name = batch === 'newer' ? 'newer' : batch.batch_id
        if (batch !== 'newer') batches.set(name, batch)
        return { offset: first + i, timestamp: Date.now(), key: 'acme', value: Buffer.from(name) }
      }),
    })
  return { fetchFrom, published, setAside }
}
const cursorOf = async (partition: number) => {
  const { rows } = await pool.query('select next_offset from integrity.cursors where topic = $1 and partition = $2', [
    topic,
    partition,
  ])
  return rows[0]?.next_offset
}
const newBatch = () => batchOf(tag, [sampleOf(tag)])
const stops = (offset: number) =>
  `offset ${offset} was written with a newer schema, in which records.colour is new or different: upgrade integrity`

it('stops at a message of a newer schema, and decides what comes before it once', async () => {
  const { fetchFrom, published, setAside } = openHandler(0)
  const [first, second] = [newBatch(), newBatch()]
  const fetched = [first, second, 'newer', newBatch()] as const
  await expect(fetchFrom(0, ...fetched)).rejects.toThrow(stops(2))
  expect(await cursorOf(0)).toBe(2)
  expect(published).toEqual([[first.batch_id, second.batch_id]])
  await expect(fetchFrom(0, ...fetched)).rejects.toThrow(stops(2))
  await expect(fetchFrom(2, 'newer')).rejects.toThrow(stops(2))
  expect(await cursorOf(0)).toBe(2)
  expect(published).toHaveLength(1)
  expect(setAside).toEqual([])
})

it('goes on at that very message once it is upgraded', async () => {
  const old = openHandler(1)
  const [first, newer, last] = [newBatch(), newBatch(), newBatch()]
  await expect(old.fetchFrom(0, first, 'newer', last)).rejects.toThrow(stops(1))
  const upgraded = openHandler(1)
  await upgraded.fetchFrom(0, first, newer, last)
  expect(upgraded.published).toEqual([[first.batch_id, newer.batch_id, last.batch_id]])
  expect(await cursorOf(1)).toBe(3)
})

it('tells a Postgres that went back from a Kafka that lost what was there', async () => {
  await openHandler(2).fetchFrom(0, newBatch(), newBatch())
  await expect(openHandler(2, 4).fetchFrom(4, newBatch())).rejects.toThrow(
    'weir.submitted.tags/2: offsets 2 to 3 are missing from the log. Kafka has lost what was there',
  )
  await expect(openHandler(2, 1).fetchFrom(4, newBatch())).rejects.toThrow(
    'weir.submitted.tags/2: offsets 2 to 3 are in the log and were published, and Postgres knows nothing of them',
  )
})
