import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import {
  findKeyedInteraction,
  findKeyedInteractions,
  insertKeyedInteractions,
  type TakenInteraction,
} from '#ledger/keyed-interactions.js'
import { countOld, pruneOld } from '#ledger/retention.js'
import { inTransaction } from '#platform/postgres/postgres.js'
import { openMigratedDatabase } from '../../support/migrated-database.js'

const { pool } = await openMigratedDatabase()
const takenAt = (recordedAt: number, orgId = 'acme'): TakenInteraction => ({
  orgId,
  id: randomUUID(),
  bodySha256: Buffer.alloc(32, recordedAt % 256),
  recordedAt,
})
const insert = (...taken: TakenInteraction[]) => inTransaction(pool, (c) => insertKeyedInteractions(c, taken))

it('finds an interaction in its own organisation only, alone and with others', async () => {
  const [one, foreign, unknown] = [takenAt(5), takenAt(6, 'other'), takenAt(7)]
  await insert(one, foreign)
  expect(await findKeyedInteraction(pool, 'acme', one.id)).toEqual({ bodySha256: one.bodySha256, recordedAt: 5 })
  expect(await findKeyedInteraction(pool, 'acme', foreign.id)).toBeUndefined()
  const found = await inTransaction(pool, (c) =>
    findKeyedInteractions(c, [one, foreign, unknown, { orgId: 'acme', id: foreign.id }]),
  )
  expect(found).toEqual(
    new Map([
      [`acme/${one.id}`, one.bodySha256],
      [`other/${foreign.id}`, foreign.bodySha256],
    ]),
  )
})

it('keeps the first body of an interaction that is taken twice', async () => {
  const first = takenAt(5)
  await insert(first)
  await insert({ ...first, bodySha256: Buffer.alloc(32, 99), recordedAt: 9 })
  expect(await findKeyedInteraction(pool, 'acme', first.id)).toMatchObject({ bodySha256: first.bodySha256 })
})

it('prunes the oldest first, a few at a time, and counts the same', async () => {
  await pool.query('truncate integrity.keyed_interactions')
  const taken = [1000, 2000, 3000, 4000].map((at) => takenAt(at))
  await insert(...taken)
  const before = new Date(3500)
  expect(await countOld(pool, 'keyed_interactions', before)).toBe(3)
  expect(await pruneOld(pool, 'keyed_interactions', before, 2)).toBe(2)
  expect(await pruneOld(pool, 'keyed_interactions', before, 2)).toBe(1)
  expect(await pruneOld(pool, 'keyed_interactions', before, 2)).toBe(0)
  expect(await findKeyedInteraction(pool, 'acme', taken[3]?.id ?? '')).toBeDefined()
})
