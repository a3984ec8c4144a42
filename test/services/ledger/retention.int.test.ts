import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { beforeEach, expect, it } from 'vitest'
import { insertKeyedRequests } from '#ledger/keyed-interactions.js'
import { createRetention } from '#ledger/retention.js'
import { pruneVerdicts } from '#ledger/verdicts.js'
import type { Committed } from '#platform/kafka/committed-offsets.js'
import { inTransaction } from '#platform/postgres/postgres.js'
import type { SubmittedBatch } from '#schemas/events.js'
import { shop } from '#schemas/records/shop.js'
import { keyedRequestId } from '#schemas/uuid.js'
import { createEntityIndex } from '../../../services/integrity/entity-index.js'
import { takeDecisions } from '../../../services/integrity/take-decisions.js'
import { batchOf } from '../../support/batch.js'
import { openMigratedDatabase } from '../../support/migrated-database.js'
import { sampleOf } from '../../support/sample.js'
import { insertWait } from '../../support/waits.js'

const topic = 'weir.submitted.shops'
const day = 86_400_000
const begin = Date.UTC(2026, 0, 1)
const on = (n: number): number => begin + n * day
const date = (n: number): Date => new Date(on(n))

const { pool } = await openMigratedDatabase()
beforeEach(async () => {
  await pool.query(
    'truncate integrity.verdicts, integrity.cursors, integrity.keyed_interactions, integrity.keyed_requests, integrity.retries, integrity.request_bodies, integrity.waiting, integrity.waiting_for',
  )
})
/** A batch that the edge submits on a certain day. */
const batchOn = (n: number): SubmittedBatch => batchOf(shop, [sampleOf(shop)], { submitted_at: on(n) })

/** Decides batches that lie one after another from an offset on, on a certain day. */
const decide = (offset: number, batches: SubmittedBatch[], n: number, partition = 0, lanes = 1) => {
  const submitted = batches.map((batch, i) => ({ offset: offset + i, timestamp: batch.submitted_at, batch }))
  const at = { topic, partition, type: shop, isReferenced: true, lanes, first: offset, next: offset + batches.length }
  return inTransaction(pool, (c) => takeDecisions(c, createEntityIndex(10), at, submitted, on(n) + 5))
}
const retentionWith = (offset: number, most = 1000, steps: number[] = []) =>
  createRetention({
    pool,
    committed: async (): Promise<Committed[]> => [{ topic, partition: 0, offset }],
    onStep: (_, count) => steps.push(count),
    steps: { most, pauseMs: 0 },
  })
const keptOffsets = async () => {
  const { rows } = await pool.query('select submitted_offset as kept from integrity.verdicts order by 1')
  return rows.map(({ kept }) => kept)
}

it('prunes verdicts by age, in steps', async () => {
  for (let n = 0; n < 7; n++) await decide(n, [batchOn(n)], n)
  const steps: number[] = []
  const retention = retentionWith(7, 2, steps)
  expect(await retention.count({ verdicts: date(5) })).toMatchObject({ verdicts: 5 })
  expect(await retention.prune({ verdicts: date(5) })).toMatchObject({ verdicts: 5 })
  expect(steps).toEqual([2, 2, 1])
  expect(await keptOffsets()).toEqual([5, 6])
})

it("lets the body that a request was claimed with go with the request's last verdict", async () => {
  const request_id = keyedRequestId('acme', '/v1/data/shops', randomUUID())
  const batches = [0, 1].map(() => batchOf(shop, [sampleOf(shop)], { request_id, submitted_at: on(0) }))
  const claimed = async () => (await pool.query('select from integrity.request_bodies')).rowCount
  for (const [partition, batch] of batches.entries()) await decide(0, [batch], 0, partition, 2)
  expect(await claimed()).toBe(1)
  const prune = (partition: number) =>
    inTransaction(pool, (c) => pruneVerdicts(c, { topic, partition, offset: 1 }, date(30), 10))
  expect((await prune(0)).count).toBe(1)
  expect(await claimed()).toBe(1)
  expect((await prune(1)).count).toBe(1)
  expect(await claimed()).toBe(0)
})

it('never prunes a verdict that may not have been published yet', async () => {
  for (let n = 0; n < 4; n++) await decide(n, [batchOn(n)], n)
  await retentionWith(2).prune({ verdicts: date(30) })
  expect(await keptOffsets()).toEqual([2, 3])
})

it('passes over a batch that comes again after its verdict was pruned, and of no other', async () => {
  const batches = [0, 1, 2].map(batchOn)
  for (const [n, batch] of batches.entries()) await decide(n, [batch], n)
  await retentionWith(3).prune({ verdicts: date(2) })

  const { outcomes, forgotten } = await decide(0, batches, 40)
  expect(forgotten.map(({ offset }) => offset)).toEqual([0, 1])
  expect(outcomes.map(({ offset, verdict }) => [offset, verdict.accepted])).toEqual([[2, 1]])
  expect(await keptOffsets()).toEqual([2])
})

it('publishes nothing again from below what was pruned, also where its own verdict is kept', async () => {
  const [waited, repeated, newer, last] = [batchOn(0), batchOn(1), batchOn(2), batchOn(25)]
  for (const [n, batch] of [waited, repeated, newer].entries()) await decide(n, [batch], n)
  await insertWait(pool, { batchId: waited.batch_id, state: 'accepted', changedAt: date(20) })
  await decide(3, [repeated, last], 25)
  await retentionWith(5).prune({ verdicts: date(10) })
  expect(await keptOffsets()).toEqual([0, 1, 4])

  // Integrity's group has lost its offsets, and the log is read again.
  const { outcomes, forgotten } = await decide(0, [waited, repeated, newer, repeated, last], 26)
  expect(forgotten.map(({ offset }) => offset)).toEqual([0, 1, 2])
  expect(outcomes.map(({ offset, isTheOneDecided }) => [offset, isTheOneDecided])).toEqual([
    [3, false],
    [4, true],
  ])
})

it('estimates by time up to where verdicts were pruned before that was noted', async () => {
  const [waited, repeated, newer, last] = [batchOn(0), batchOn(1), batchOn(2), batchOn(25)]
  for (const [n, batch] of [waited, repeated, newer].entries()) await decide(n, [batch], n)
  await insertWait(pool, { batchId: waited.batch_id, state: 'accepted', changedAt: date(20) })
  await decide(3, [repeated, last, last], 25)
  await retentionWith(6).prune({ verdicts: date(10) })

  const file = new URL('../../../services/ledger/migrations/integrity/0014_cursor_places.sql', import.meta.url)
  const estimate = readFileSync(file, 'utf8').split(';\n').at(-2) ?? ''
  await pool.query('update integrity.cursors set pruned_until = 0')
  await pool.query(estimate)
  const { forgotten } = await decide(0, [waited, repeated, newer, repeated, last, last], 26)
  expect(forgotten.map(({ offset }) => offset)).toEqual([0, 1, 2])
})

it('prunes nothing that is being published again, whatever the group had committed before', async () => {
  const batches = [0, 1, 2].map(batchOn)
  await decide(0, batches, 2)
  await decide(0, batches.slice(0, 1), 30)
  await retentionWith(3).prune({ verdicts: date(20) })
  expect(await keptOffsets()).toEqual([0, 1, 2])
  await decide(1, batches.slice(1), 30)
  await retentionWith(3).prune({ verdicts: date(20) })
  expect(await keptOffsets()).toEqual([1, 2])
  await decide(3, [batchOn(30)], 30)
  await retentionWith(3).prune({ verdicts: date(20) })
  expect(await keptOffsets()).toEqual([3])
})

it('stops at a batch below the cursor that is younger than all that was pruned: its Kafka was reset', async () => {
  for (const n of [0, 1]) await decide(n, [batchOn(n)], n)
  await retentionWith(2).prune({ verdicts: date(30) })
  expect(await keptOffsets()).toEqual([])
  await expect(decide(0, [batchOn(2)], 2)).rejects.toThrow('offset 0 lies below the cursor, but has no verdict')
  // Also when it has become old itself, since nothing of its time was ever decided and pruned.
  await retentionWith(2).prune({ verdicts: date(100) })
  await expect(decide(0, [batchOn(2)], 100)).rejects.toThrow('offset 0 lies below the cursor, but has no verdict')
})

it('knows for each partition how far it was pruned', async () => {
  await decide(0, [batchOn(0)], 0)
  await decide(0, [batchOn(0)], 0, 1)
  await retentionWith(1).prune({ verdicts: date(30) })
  const { rows } = await pool.query('select partition, pruned_before from integrity.cursors order by partition')
  expect(rows).toEqual([
    { partition: 0, pruned_before: new Date(on(0) + 6) },
    { partition: 1, pruned_before: null },
  ])
})

it('keeps a verdict alive by its last use', async () => {
  const batch = batchOn(0)
  await decide(0, [batch], 0)
  const { outcomes } = await decide(1, [batch], 20)
  expect(outcomes).toMatchObject([{ isTheOneDecided: false, verdict: { submitted_offset: 0 } }])

  await retentionWith(2).prune({ verdicts: date(19) })
  expect(await keptOffsets()).toEqual([0])
  await retentionWith(2).prune({ verdicts: date(21) })
  expect(await keptOffsets()).toEqual([])
  expect((await decide(0, [batch, batch], 50)).forgotten).toHaveLength(2)
})

it('leaves a partition alone that was never decided on', async () => {
  expect(await retentionWith(5).prune({ verdicts: date(1) })).toMatchObject({ verdicts: 0 })
  expect((await pool.query('select 1 from integrity.cursors')).rows).toEqual([])
})

it('prunes keyed interactions, their request ids and retries by age, each by its own', async () => {
  for (const n of [0, 1, 2]) {
    await pool.query('insert into integrity.keyed_interactions values ($1, $2, $3, $4)', [
      'a',
      randomUUID(),
      '',
      date(n),
    ])
    const decided = { requestId: randomUUID(), batchId: randomUUID(), place: 0, isAccepted: true, decidedAt: on(n) - 1 }
    await inTransaction(pool, (c) => insertKeyedRequests(c, [decided]))
    await pool.query(
      `insert into integrity.retries (batch_id, index, org_id, type, rejected_at, retry_id, place)
      values ($1, 0, 'a', 'shops', $2, $1, 0)`,
      [randomUUID(), date(n)],
    )
  }
  const retention = retentionWith(0, 1)
  const before = { verdicts: date(1), retries: date(2) }
  const counts = { verdicts: 0, waits: 0, keyed_interactions: 1, keyed_requests: 2, retries: 2, audit: 0 }
  expect(await retention.count(before)).toEqual(counts)
  expect(await retention.prune(before)).toEqual(counts)
  expect(await retention.count({ verdicts: date(9), retries: date(9) })).toMatchObject({
    keyed_interactions: 2,
    keyed_requests: 1,
    retries: 1,
  })
})

it('shares the work with another instance, while batches are decided', async () => {
  for (let n = 0; n < 40; n++) await decide(n, [batchOn(0)], 0)
  const both = [retentionWith(40, 3), retentionWith(40, 3)].map((each) => each.prune({ verdicts: date(1) }))
  const decided = decide(40, [batchOn(2)], 2)
  const pruned = await Promise.all(both)
  await decided
  expect(pruned.reduce((sum, { verdicts }) => sum + verdicts, 0)).toBe(40)
  expect(await keptOffsets()).toEqual([40])
})

it('prunes verdicts on interactions sooner than the others, with the request ids that find them', async () => {
  const interactions = 'weir.submitted.interactions'
  await decide(0, [batchOn(0)], 0)
  const { batch_id } = batchOn(0)
  await pool.query(`insert into integrity.cursors (topic, partition, next_offset) values ($1, 0, 1)`, [interactions])
  const insert = (batchId: string, requestId: string) =>
    pool.query(
      `insert into integrity.verdicts
    select $1::uuid, org_id, $3::uuid, 'interactions', batch, batches, first_index, body_sha256, accepted, refused, repeated,
      decided_at, $2, partition, submitted_offset
    from integrity.verdicts where topic <> $2`,
      [batchId, interactions, requestId],
    )
  await insert(batch_id, randomUUID())
  // A request with many of them under one key is remembered like any other upload.
  const keyed = keyedRequestId('acme', '/v1/data/interactions', 'a key')
  await insert(randomUUID(), keyed)
  await inTransaction(pool, (connection) =>
    insertKeyedRequests(connection, [
      { requestId: randomUUID(), batchId: batch_id, place: 0, isAccepted: true, decidedAt: on(0) },
    ]),
  )
  const retention = createRetention({
    pool,
    committed: async () => [topic, interactions].map((each) => ({ topic: each, partition: 0, offset: 1 })),
    steps: { pauseMs: 0 },
  })
  const before = { verdicts: date(0), interactionVerdicts: date(1) }
  const gone = { verdicts: 1, waits: 0, keyed_interactions: 0, keyed_requests: 1, retries: 0, audit: 0 }
  expect(await retention.count(before)).toEqual(gone)
  expect(await retention.prune(before)).toEqual(gone)
  const kept = await pool.query('select topic, request_id from integrity.verdicts order by topic')
  expect(kept.rows).toEqual([
    { topic: interactions, request_id: keyed },
    { topic, request_id: expect.any(String) },
  ])
  const all = { verdicts: date(9), interactionVerdicts: date(9) }
  expect([(await retention.count(all)).verdicts, (await retention.prune(all)).verdicts]).toEqual([2, 2])
})

it('keeps what waits, and what became of it for as long as its verdict is kept', async () => {
  const batches = [0, 0, 0, 0].map(batchOn)
  const [waiting = '', lately = '', longAgo = '', repeated = ''] = batches.map(({ batch_id }) => batch_id)
  for (const [n, batch] of batches.entries()) await decide(n, [batch], 0)
  await insertWait(pool, { batchId: waiting, since: date(0) })
  // Of one batch, one record is done with and another still waits.
  await insertWait(pool, { batchId: waiting, place: 1, state: 'accepted', changedAt: date(1) })
  await insertWait(pool, { batchId: lately, state: 'refused', changedAt: date(6) })
  await insertWait(pool, { batchId: longAgo, state: 'superseded', changedAt: date(1) })
  await insertWait(pool, { batchId: repeated, state: 'accepted', changedAt: date(1) })
  await decide(4, batches.slice(3), 20)
  // Its verdict is gone, but analysts do not know of its end.
  await insertWait(pool, { batchId: randomUUID(), state: 'cancelled', changedAt: date(1), isTold: false })

  const retention = retentionWith(5, 1)
  const gone = { verdicts: 1, waits: 1 }
  expect(await retention.count({ verdicts: date(5) })).toMatchObject(gone)
  expect(await retention.prune({ verdicts: date(5) })).toMatchObject(gone)
  expect(await keptOffsets()).toEqual([0, 1, 3])

  // Not what still waits, however long ago it was sent.
  expect(await retention.prune({ verdicts: date(30) })).toMatchObject({ verdicts: 2, waits: 2 })
  expect(await keptOffsets()).toEqual([0])
  const { rows } = await pool.query(`select state from integrity.waiting order by state`)
  expect(rows.map(({ state }) => state)).toEqual(['accepted', 'cancelled', 'waiting'])
})

it('forgets interactions that waited with their verdicts, which go sooner', async () => {
  await insertWait(pool, { type: 'interactions', state: 'accepted', changedAt: date(3) })
  await insertWait(pool, { type: 'offers', state: 'accepted', changedAt: date(3) })
  const before = { verdicts: date(2), interactionVerdicts: date(5) }
  expect(await retentionWith(0).count(before)).toMatchObject({ waits: 1 })
  expect(await retentionWith(0).prune(before)).toMatchObject({ waits: 1 })
  expect((await pool.query('select type from integrity.waiting')).rows).toEqual([{ type: 'offers' }])
})

// Counts what earlier transactions of the connection did in the last second, too.
const scans = `select seq_scan::integer from pg_stat_xact_user_tables where schemaname = 'integrity' and relname in ('verdicts', 'waiting') order by relname`

it('finds what to prune by an index, without reading the table while it holds the cursor', async () => {
  await decide(0, [batchOn(0)], 0)
  await pool.query(
    `insert into integrity.verdicts
    select gen_random_uuid(), org_id, gen_random_uuid(), type, batch, batches, first_index, body_sha256, accepted, refused,
      repeated, decided_at + n * interval '1 second', topic, n % 4, n
    from integrity.verdicts, generate_series(1, 20000) n`,
  )
  // A record of every other batch waited, and what became of it may be forgotten too.
  const { batchId } = await insertWait(pool, { state: 'accepted', changedAt: date(0) })
  await pool.query(
    `insert into integrity.waiting (batch_id, place, org_id, type, id, request_id, request_index, version, topic, partition,
      missing, since, until, state, changed_at)
    select v.batch_id, 0, w.org_id, w.type, w.id, w.request_id, 0, w.version, w.topic, 0, w.missing, w.since, w.until, w.state,
      w.changed_at
    from integrity.waiting w, integrity.verdicts v
    where w.batch_id = $1 and v.submitted_offset % 2 = 0`,
    [batchId],
  )
  await pool.query('analyze integrity.verdicts, integrity.waiting')
  await inTransaction(pool, async (connection) => {
    const { rows: before } = await connection.query(scans)
    const { count } = await pruneVerdicts(connection, { topic, partition: 0, offset: 100_000 }, date(100), 1000)
    expect(count).toBe(1000)
    expect((await connection.query(scans)).rows).toEqual(before)
  })
})

it('prunes what was done by its age alone', async () => {
  for (let n = 0; n < 4; n++)
    await pool.query(
      `insert into auth.audit (org_id, at, actor, action, subject) values ('acme', $1, 'k', 'key_revoked', 'k')`,
      [date(n)],
    )
  const retention = retentionWith(0)
  expect(await retention.count({ audit: date(3) })).toMatchObject({ audit: 3, verdicts: 0 })
  expect(await retention.prune({ audit: date(3) })).toMatchObject({ audit: 3, verdicts: 0 })
  expect(await retention.prune({ verdicts: date(9) })).toMatchObject({ audit: 0 })
})
