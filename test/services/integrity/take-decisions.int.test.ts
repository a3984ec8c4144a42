import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { findRequest } from '#ledger/requests.js'
import { type Connection, inTransaction } from '#platform/postgres/postgres.js'
import { catalogue } from '#schemas/catalogue.js'
import { createEventsOf } from '#schemas/derive/decided-events.js'
import type { KeyedRequest, SubmittedBatch } from '#schemas/events.js'
import type { RecordType } from '#schemas/record.js'
import { branch } from '#schemas/records/branch.js'
import { interaction } from '#schemas/records/interaction.js'
import { shop } from '#schemas/records/shop.js'
import { batchIdOf, interactionRequestId, keyedRequestId } from '#schemas/uuid.js'
import { createEntityIndex } from '../../../services/integrity/entity-index.js'
import { takeDecisions } from '../../../services/integrity/take-decisions.js'
import { batchOf, refusalOf } from '../../support/batch.js'
import { eventually } from '../../support/eventually.js'
import { openMigratedDatabase } from '../../support/migrated-database.js'
import { sampleOf } from '../../support/sample.js'

const { pool } = await openMigratedDatabase()

let nextPartition = 0
/** A partition of its own for each test, decided by any number of instances, each with a cache of its own. */
const newLog = (type: RecordType) => {
  const partition = nextPartition++
  const log = { topic: 'weir.submitted.test', partition, type, isReferenced: catalogue.referenced.has(type.type) }
  const decideFrom =
    (index = createEntityIndex(1000), now = Date.UTC(2026, 5, 1)) =>
    async (offset: number, ...batches: SubmittedBatch[]) => {
      const submitted = batches.map((batch, i) => ({ offset: offset + i, timestamp: batch.submitted_at, batch }))
      const at = { ...log, first: offset, next: offset + batches.length }
      const { outcomes, entities } = await inTransaction(pool, (c) => takeDecisions(c, index, at, submitted, now))
      index.remember(entities)
      return outcomes
    }
  return { decideFrom }
}

it('accepts what refers to something known, in the same organisation only', async () => {
  const shops = newLog(shop).decideFrom()
  const branches = newLog(branch).decideFrom()
  const known = sampleOf(shop)
  await shops(0, batchOf(shop, [known], { org_id: 'a' }))

  const record = sampleOf(branch, { shop_id: known.shop_id })
  const [own, foreign] = await branches(
    0,
    batchOf(branch, [record], { org_id: 'a' }),
    batchOf(branch, [record], { org_id: 'b' }),
  )
  expect(own?.verdict).toMatchObject({ accepted: 1, refused: [] })
  expect(foreign?.verdict).toMatchObject({
    accepted: 0,
    refused: [{ index: 0, problems: [{ code: 'unknown_reference' }] }],
  })
})

it('never decides anew what lies below the cursor: another instance gets the first verdict, byte for byte', async () => {
  const log = newLog(branch)
  const batch = batchOf(branch, [sampleOf(branch), sampleOf(branch)], { refusals: [refusalOf(2, 'x')] })
  const [first] = await log.decideFrom()(7, batch)
  // By now the shops are known; the decision stands all the same.
  await newLog(shop).decideFrom()(
    0,
    batchOf(
      shop,
      batch.records.map((r) => sampleOf(shop, { shop_id: r.shop_id })),
    ),
  )
  const [second] = await log.decideFrom(createEntityIndex(1000), Date.UTC(2030, 1, 1))(7, batch)
  expect(second).toEqual(first)
  expect(second?.isTheOneDecided).toBe(true)

  const events = createEventsOf(branch)
  if (!first || !second) throw new Error('no outcome')
  expect(events.rejected(batch, second.verdict)).toEqual(events.rejected(batch, first.verdict))
})

it('gives a batch that comes twice its first verdict, and has it published once more without its records', async () => {
  const decide = newLog(shop).decideFrom()
  const batch = batchOf(shop, [sampleOf(shop)])
  const [first, again] = await decide(0, batch, batch)
  expect(first?.isTheOneDecided).toBe(true)
  expect(again?.isTheOneDecided).toBe(false)
  expect(again?.verdict).toEqual(first?.verdict)
  const [later] = await decide(2, batch)
  expect(later?.isTheOneDecided).toBe(false)
})

it('refuses to go on over a hole in the log, and over a log that was replaced', async () => {
  const decide = newLog(shop).decideFrom()
  await decide(0, batchOf(shop, [sampleOf(shop)]))
  await expect(decide(2, batchOf(shop, [sampleOf(shop)]))).rejects.toThrow('offsets 1 to 1 are missing')
  await expect(decide(0, batchOf(shop, [sampleOf(shop)]))).rejects.toThrow('below the cursor')
})

it('lets two instances at the same fetch come to one decision', async () => {
  const log = newLog(shop)
  const batches = Array.from({ length: 5 }, () => batchOf(shop, [sampleOf(shop)]))
  const all = await Promise.all([1, 2, 3, 4].map((n) => log.decideFrom(createEntityIndex(1000), n)(0, ...batches)))
  for (const outcomes of all) expect(outcomes).toEqual(all[0])
})

it('leaves nothing behind when the transaction fails', async () => {
  const log = newLog(shop)
  const record = sampleOf(shop)
  const at = { topic: 'weir.submitted.failing', partition: 0, type: shop, isReferenced: true, first: 0, next: 1 }
  const failing = inTransaction(pool, async (connection) => {
    await takeDecisions(
      connection,
      createEntityIndex(10),
      at,
      [{ offset: 0, timestamp: 0, batch: batchOf(shop, [record]) }],
      0,
    )
    throw new Error('cut off')
  })
  await expect(failing).rejects.toThrow('cut off')
  const { rows } = await pool.query('select 1 from integrity.entities where id = $1', [record.shop_id])
  expect(rows).toEqual([])
  await log.decideFrom()(0, batchOf(shop, [record]))
})

it('takes a keyed interaction once, over batches and fetches', async () => {
  const decide = newLog(interaction).decideFrom()
  await newLog(shop).decideFrom()(
    0,
    batchOf(shop, [sampleOf(shop, { shop_id: '6f1a2f0e-5d0b-4b7e-9a63-0c8f5f1f7b11' })]),
  )
  const given = sampleOf(interaction, {
    student_id: null,
    item_type: 'SHOP',
    item_id: '6f1a2f0e-5d0b-4b7e-9a63-0c8f5f1f7b11',
  })
  const id = randomUUID()
  const keyed = (fill: number) => {
    const batch = batchOf(interaction, [given])
    Object.assign(batch.records[0] ?? {}, { interaction_id: id, keyed_sha256: Buffer.alloc(32, fill) })
    return batch
  }
  const verdicts = (await decide(0, keyed(1), keyed(1), keyed(2))).map(({ verdict }) => verdict)
  expect(verdicts).toMatchObject([
    { accepted: 1, refused: [], repeated: [] },
    { accepted: 1, refused: [], repeated: [0] },
    { accepted: 0, refused: [{ problems: [{ code: 'idempotency_conflict' }] }] },
  ])
  const [later] = await decide(3, keyed(1))
  expect(later?.verdict.repeated).toEqual([0])
})

it('takes all of the first body under an Idempotency-Key and nothing of another, however both are cut', async () => {
  const decide = newLog(shop).decideFrom()
  const request_id = keyedRequestId('acme', '/v1/data/shops', randomUUID())
  const slices = (fill: number, ...counts: number[]) =>
    counts.map((count, i) => {
      const first = counts.slice(0, i).reduce((sum, n) => sum + n, 0)
      const records = Array.from({ length: count }, () => sampleOf(shop))
      const place = { batch: i + 1, batches: counts.length, first_index: first }
      const batch_id = batchIdOf(request_id, first, count)
      return batchOf(shop, records, { request_id, batch_id, body_sha256: Buffer.alloc(32, fill), ...place })
    })
  const [a1, a2] = slices(1, 2, 1)
  const [b1, b2, b3] = slices(2, 2, 2, 3)
  if (!a1 || !a2 || !b1 || !b2 || !b3) throw new Error('no batches')
  const outcomes = [...(await decide(0, a1, b1, b2)), ...(await decide(3, a2, b3))]
  expect(outcomes.map(({ verdict }) => [verdict.body_sha256[0], verdict.accepted])).toEqual([
    [1, 2],
    [1, 2],
    [2, 0],
    [1, 1],
    [2, 0],
  ])
  const { verdicts } = await findRequest(pool, 'acme', request_id)
  expect(verdicts.map(({ batch_id }) => batch_id)).toEqual([a1.batch_id, a2.batch_id])
})

it('takes all of one body under an Idempotency-Key and nothing of another where their batches are decided at the same time in several lanes', async () => {
  const request_id = keyedRequestId('acme', '/v1/data/shops', randomUUID())
  const sent = (fill: number, before: number, batch: number) =>
    batchOf(shop, [sampleOf(shop)], {
      ...{ request_id, batch_id: batchIdOf(request_id, before, fill, 2), batch, batches: 2, first_index: before },
      body_sha256: Buffer.alloc(32, fill),
    })
  const lanes = [nextPartition++, nextPartition++]
  const decide = (connection: Connection, lane: number, offset: number, ...batches: SubmittedBatch[]) => {
    const at = { topic: 'weir.submitted.test', partition: lanes[lane] ?? 0, type: shop, isReferenced: true, lanes: 2 }
    const submitted = batches.map((batch, i) => ({ offset: offset + i, timestamp: batch.submitted_at, batch }))
    const span = { ...at, first: offset, next: offset + batches.length }
    return takeDecisions(connection, createEntityIndex(10), span, submitted, Date.UTC(2026, 5, 1))
  }
  // Body 2 comes first in the second lane, while the first lane's transaction with body 1 is open.
  let second: ReturnType<typeof decide> | undefined
  const first = await inTransaction(pool, async (connection) => {
    const taken = await decide(connection, 0, 0, sent(1, 0, 1), sent(2, 0, 1))
    second = inTransaction(pool, (other) => decide(other, 1, 0, sent(2, 1, 2), sent(1, 1, 2)))
    await eventually(async () => {
      const { rows } = await pool.query(
        `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%request_bodies%' and datname = current_database()`,
      )
      if (rows.length === 0) throw new Error('the second lane does not wait')
    })
    return taken
  })
  const outcomes = [...first.outcomes, ...((await second)?.outcomes ?? [])]
  expect(outcomes.map(({ verdict }) => [verdict.body_sha256[0], verdict.accepted])).toEqual([
    [1, 1],
    [2, 0],
    [2, 0],
    [1, 1],
  ])
  const { verdicts } = await findRequest(pool, 'acme', request_id)
  expect(verdicts.map(({ batch, body_sha256 }) => [batch, body_sha256[0]])).toEqual([
    [1, 1],
    [2, 1],
  ])
})

it('stores where the verdict on each keyed interaction is, once for each that is decided and not only repeated', async () => {
  const decide = newLog(interaction).decideFrom()
  const shopId = randomUUID()
  await newLog(shop).decideFrom()(0, batchOf(shop, [sampleOf(shop, { shop_id: shopId })]))
  const known = sampleOf(interaction, { student_id: null, item_type: 'SHOP', item_id: shopId })
  const [id, requestId, ghostId, badId] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
  const newBatch = (keyed_requests: KeyedRequest[]) => {
    const records = [known, known, { ...known, item_id: randomUUID() }]
    const batch = batchOf(interaction, records, { refusals: [refusalOf(3)], gathered: true, keyed_requests })
    Object.assign(batch.records[1] ?? {}, { interaction_id: id, keyed_sha256: Buffer.alloc(32, 1) })
    return batch
  }
  const keyed = [
    { index: 1, request_id: requestId },
    { index: 2, request_id: ghostId },
    { index: 3, request_id: badId },
  ]
  const [first, again, unkeyed] = [newBatch(keyed), newBatch(keyed), newBatch([])]
  const outcomes = await decide(0, first, again, unkeyed)
  // Delivered once more by Kafka.
  await decide(0, first)
  const { rows } = await pool.query(
    'select place, request_id, is_accepted from integrity.keyed_requests where batch_id = any ($1) order by batch_id = $2, place',
    [[first, again, unkeyed].map(({ batch_id }) => batch_id), again.batch_id],
  )
  const refused = [
    { place: 2, request_id: ghostId, is_accepted: false },
    { place: 3, request_id: badId, is_accepted: false },
  ]
  expect(rows).toEqual([{ place: 1, request_id: requestId, is_accepted: true }, ...refused, ...refused])

  const { accepted, rejected } = createEventsOf(interaction)
  const idsOf = ({ batch, verdict }: (typeof outcomes)[number]) =>
    [...accepted(batch, verdict), ...rejected(batch, verdict)].map(({ request_id }) => request_id)
  const placeId = interactionRequestId(first.request_id, 0)
  expect(outcomes[0] && idsOf(outcomes[0])).toEqual([placeId, requestId, ghostId, badId])
})

it('keeps refusals that hold what Postgres would choke on', async () => {
  const decide = newLog(shop).decideFrom()
  const nasty = {
    ...refusalOf(0, 'a\u0000b'),
    problems: [{ field: '\ud800', code: 'unknown_field' as const, message: '\u0000' }],
  }
  const batch = batchOf(shop, [], { refusals: [nasty] })
  await decide(0, batch)
  const [again] = await decide(0, batch)
  expect(again?.verdict.refused[0]?.id).toBe('a\u0000b')
})

it('stops before a log that was cut and has grown again, and goes on with one that was not', async () => {
  const partition = nextPartition++
  const at = { topic: 'weir.submitted.test', partition, type: shop, isReferenced: true }
  const [first, last, next] = [1, 2, 3].map(() => batchOf(shop, [sampleOf(shop)])) as [
    SubmittedBatch,
    SubmittedBatch,
    SubmittedBatch,
  ]
  const index = createEntityIndex(10)
  const toSubmitted = (batch: SubmittedBatch, offset: number) => ({ offset, timestamp: batch.submitted_at, batch })
  const decide = (from: number, batches: SubmittedBatch[], before?: SubmittedBatch) =>
    inTransaction(pool, (connection) =>
      takeDecisions(
        connection,
        index,
        { ...at, first: from, next: from + batches.length, before: before && toSubmitted(before, from - 1) },
        batches.map((batch, i) => toSubmitted(batch, from + i)),
        Date.UTC(2026, 5, 1),
      ),
    )
  await decide(0, [first, last])
  const refilled = batchOf(shop, [sampleOf(shop)])
  const cut = 'offset 1 holds the batch'
  await expect(decide(2, [next], refilled)).rejects.toThrow(cut)
  // A request that was sent again has its verdict, but at another place.
  await expect(decide(2, [next], first)).rejects.toThrow(cut)
  expect((await decide(2, [next], last)).outcomes).toHaveLength(1)
  // The last message of a log may repeat a batch: then nothing was decided at its place.
  await decide(3, [first])
  expect((await decide(4, [batchOf(shop, [sampleOf(shop)])], first)).outcomes).toHaveLength(1)
})
