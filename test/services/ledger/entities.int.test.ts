import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { entityName, findEntities, findIndexId, insertEntities, insertNewEntities } from '#ledger/entities.js'
import { inTransaction } from '#platform/postgres/postgres.js'
import { openMigratedDatabase } from '../../support/migrated-database.js'

const { pool } = await openMigratedDatabase()
const entity = (orgId = 'acme', type = 'shops') => ({ orgId, type, id: randomUUID() })
const insert = (...entities: ReturnType<typeof entity>[]) =>
  inTransaction(pool, (connection) => insertEntities(connection, entities))

it('finds what was inserted, by organisation, type and id', async () => {
  const [one, other] = [entity(), entity()]
  await insert(one, other)
  const strangers = [entity(), { ...one, orgId: 'other' }, { ...one, type: 'tags' }]
  const found = await findEntities(pool, [one, other, ...strangers])
  expect(found.map(entityName).sort()).toEqual([one, other].map(entityName).sort())
  expect(await findEntities(pool, [])).toEqual([])
})

it('takes an entity that is there already, and two inserts of the same ones in opposite orders', async () => {
  const many = Array.from({ length: 200 }, () => entity())
  await insert(...many.slice(0, 10))
  await Promise.all([insert(...many), insert(...many.toReversed())])
  expect(await findEntities(pool, many)).toHaveLength(200)
})

it('inserts new ones the short way; where one is there already, none of them, and the transaction goes on', async () => {
  const [one, other, known] = [entity(), entity(), entity()]
  const insertNew = (...entities: ReturnType<typeof entity>[]) =>
    inTransaction(pool, async (connection) => {
      const isInserted = await insertNewEntities(connection, entities)
      const found = await findEntities(connection, entities)
      return { isInserted, found: new Set(found.map(entityName)).size }
    })
  expect(await insertNew(known, known)).toEqual({ isInserted: true, found: 1 })
  expect(await insertNew(one, known, other)).toEqual({ isInserted: false, found: 1 })
  expect(await insertNew(one, other)).toEqual({ isInserted: true, found: 2 })
})

it('lets two transactions insert the same new ones: the second waits for the first, and inserts none', async () => {
  const many = Array.from({ length: 200 }, () => entity())
  const insertNew = (entities: ReturnType<typeof entity>[]) =>
    inTransaction(pool, (connection) => insertNewEntities(connection, entities))
  expect((await Promise.all([insertNew(many), insertNew(many.toReversed())])).sort()).toEqual([false, true])
  expect(await findEntities(pool, many)).toHaveLength(200)
})

it('has the same id while it is the same table, and another one when the table is replaced', async () => {
  const indexId = () => inTransaction(pool, findIndexId)
  const before = await indexId()
  await insert(entity())
  expect(await indexId()).toBe(before)
  await pool.query('alter table integrity.entities rename to entities_old')
  expect(await indexId()).toBeUndefined()
  await pool.query('create table integrity.entities (like integrity.entities_old including all)')
  expect(await indexId()).not.toBe(before)
})
