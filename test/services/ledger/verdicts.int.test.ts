import { randomUUID } from 'node:crypto'
import { beforeEach, expect, it } from 'vitest'
import {
  countPrunableVerdicts,
  findDecidedRequests,
  findVerdicts,
  findVerdictsOfBatches,
  insertVerdicts,
  isTheOneDecided,
  pruneVerdicts,
  type StoredVerdict,
  touchVerdicts,
} from '#ledger/verdicts.js'
import { inTransaction } from '#platform/postgres/postgres.js'
import { openMigratedDatabase } from '../../support/migrated-database.js'

const { pool } = await openMigratedDatabase()
beforeEach(() => pool.query('truncate integrity.verdicts'))

const topic = 'weir.submitted.shops'
const verdictAt = (offset: number, over: Partial<StoredVerdict> = {}): StoredVerdict => ({
  org_id: 'acme',
  request_id: randomUUID(),
  batch_id: randomUUID(),
  type: 'shops',
  batch: 1,
  batches: 2,
  first_index: 500,
  body_sha256: Buffer.alloc(32, 7),
  decided_at: 1_000 + offset,
  accepted: 3,
  refused: [{ index: 1, id: 'a\u0000b', problems: [{ field: null, code: 'bad_format', message: 'no' }] }],
  repeated: [0, 2],
  topic,
  partition: 0,
  submitted_offset: offset,
  ...over,
})
const insert = (...verdicts: StoredVerdict[]) => inTransaction(pool, (c) => insertVerdicts(c, verdicts))
const kept = async () => {
  const { rows } = await pool.query('select submitted_offset as at from integrity.verdicts order by 1')
  return rows.map(({ at }) => at)
}

it('gives back what was stored, with the place of the message and without it', async () => {
  const [one, other] = [verdictAt(4), verdictAt(5, { repeated: [], refused: [] })]
  await insert(one, other)
  expect(await findVerdicts(pool, [one.batch_id, other.batch_id, randomUUID()])).toEqual(
    new Map([one, other].map((verdict) => [verdict.batch_id, verdict])),
  )
  const { topic: _, partition, submitted_offset, repeated, ...event } = one
  expect(await findVerdictsOfBatches(pool, [one.batch_id])).toEqual([event])
  expect(await findVerdicts(pool, [])).toEqual(new Map())
})

it('refuses a second verdict on a batch', async () => {
  const verdict = verdictAt(4)
  await insert(verdict)
  await expect(insert({ ...verdict, submitted_offset: 9 })).rejects.toThrow('duplicate key')
})

it('knows which requests have a decided batch', async () => {
  const [decided, unknown] = [verdictAt(4), randomUUID()]
  await insert(decided, verdictAt(5, { request_id: decided.request_id }))
  expect(await findDecidedRequests(pool, [decided.request_id, unknown])).toEqual(new Set([decided.request_id]))
})

it('tells the message that was decided from a repeat of its batch', () => {
  const verdict = verdictAt(4)
  expect(isTheOneDecided(verdict, { topic, partition: 0, offset: 4 })).toBe(true)
  for (const elsewhere of [{ offset: 5 }, { partition: 1 }, { topic: 'weir.submitted.tags' }])
    expect(isTheOneDecided(verdict, { topic, partition: 0, offset: 4, ...elsewhere })).toBe(false)
})

it('prunes what was published and last used long ago, the oldest first, and counts the same', async () => {
  const verdicts = [0, 1, 2, 3, 4].map((offset) => verdictAt(offset))
  await insert(...verdicts, verdictAt(0, { partition: 1 }))
  const [oldest] = verdicts
  if (!oldest) throw new Error('no verdict')
  // Used again later than all others.
  await inTransaction(pool, (c) => touchVerdicts(c, [oldest.batch_id], 9_000))

  const committed = { topic, partition: 0, offset: 4 }
  expect(await countPrunableVerdicts(pool, [committed], new Date(5_000))).toBe(3)
  const prune = (most: number) => inTransaction(pool, (c) => pruneVerdicts(c, committed, new Date(5_000), most))
  expect(await prune(2)).toEqual({ count: 2, lastUsed: new Date(1_002) })
  expect(await kept()).toEqual([0, 0, 3, 4])
  expect(await prune(2)).toEqual({ count: 1, lastUsed: new Date(1_003) })
  expect(await prune(2)).toEqual({ count: 0, lastUsed: null })
  expect(await kept()).toEqual([0, 0, 4])
})
