import { randomUUID } from 'node:crypto'
import { beforeEach, expect, it } from 'vitest'
import {
  beginNewIndex,
  compareIndexes,
  dropNewIndex,
  insertRebuilt,
  swapIndex,
} from '#ledger/mending/rebuilt-entities.js'
import { inTransaction } from '#platform/postgres/postgres.js'
import { branch } from '#schemas/records/branch.js'
import { shop } from '#schemas/records/shop.js'
import { createEntityIndex } from '../../../../services/integrity/entity-index.js'
import { takeDecisions } from '../../../../services/integrity/take-decisions.js'
import { alone } from '../../../../services/operator/command/alone.js'
import { inShortTransaction } from '../../../../services/operator/rebuild/rebuild-index.js'
import { batchOf } from '../../../support/batch.js'
import { eventually } from '../../../support/eventually.js'
import { openMigratedDatabase } from '../../../support/migrated-database.js'
import { sampleOf } from '../../../support/sample.js'

const { pool } = await openMigratedDatabase()
beforeEach(() => inTransaction(pool, dropNewIndex))

const index = createEntityIndex(1000)
let nextOffset = 0
/** Integrity at its work: one instance, whose memory lasts as long as this file. */
const decide = async (type: typeof shop | typeof branch, record: Record<string, unknown>) => {
  const offset = nextOffset++
  const at = { topic: 't', partition: 0, type, isReferenced: type === shop, first: offset, next: offset + 1 }
  const submitted = [{ offset, timestamp: 0, batch: batchOf(type, [record]) }]
  const { outcomes, entities } = await inTransaction(pool, (c) => takeDecisions(c, index, at, submitted, 0))
  index.remember(entities)
  return outcomes[0]?.verdict.accepted === 1
}
const isKnown = (shopId: string) => decide(branch, sampleOf(branch, { shop_id: shopId }))
const upload = (shopId: string) => decide(shop, sampleOf(shop, { shop_id: shopId }))
const addAlien = (id: string) =>
  pool.query(`insert into integrity.entities (org_id, type, id) values ('acme', 'shops', $1)`, [id])
const begin = () => inShortTransaction(pool, beginNewIndex)
const swap = (id: number) => inShortTransaction(pool, (connection) => swapIndex(connection, id))

it('holds what was accepted since it was begun, and what was read from the log, and nothing else', async () => {
  const [logged, alien, during] = [randomUUID(), randomUUID(), randomUUID()]
  await upload(logged)
  await addAlien(alien)
  expect(await isKnown(alien)).toBe(true)

  const { id } = await begin()
  await upload(during)
  await inTransaction(pool, (c) => insertRebuilt(c, [{ orgId: 'acme', type: 'shops', id: logged }]))
  expect(await compareIndexes(pool)).toEqual([{ type: 'shops', entities: 2, added: 0, removed: 1 }])
  await swap(id)

  expect(await isKnown(logged)).toBe(true)
  expect(await isKnown(during)).toBe(true)
  expect(await isKnown(alien)).toBe(false)
})

it('holds what an uploader sends meanwhile, though the old index knew of it by mistake', async () => {
  const alien = randomUUID()
  await addAlien(alien)
  const { id } = await begin()
  // Integrity has it in its memory by now, found in an index that should not hold it.
  expect(await isKnown(alien)).toBe(true)
  expect(await upload(alien)).toBe(true)
  await swap(id)
  expect(await isKnown(alien)).toBe(true)
})

it('can be made again and again, also after one that was cut off', async () => {
  const { id: leftBehind } = await begin()
  const { id } = await begin()
  expect(id).not.toBe(leftBehind)
  expect(await swap(leftBehind)).toBe(false)
  expect(await swap(id)).toBe(true)
  const { id: next } = await begin()
  await swap(next)
  expect(await upload(randomUUID())).toBe(true)
  const { rows } = await pool.query(
    `select indexname from pg_indexes where schemaname = 'integrity' and tablename = $1`,
    ['entities'],
  )
  expect(rows).toEqual([{ indexname: 'entities_pkey' }])
})

it('lets every decision under way end first, and tells how far they have come', async () => {
  const offset = nextOffset++
  const at = { topic: 't', partition: 0, type: shop, isReferenced: true, first: offset, next: offset + 1 }
  const beginning: Promise<unknown>[] = []
  await inTransaction(pool, async (connection) => {
    const submitted = [{ offset, timestamp: 0, batch: batchOf(shop, [sampleOf(shop)]) }]
    await takeDecisions(connection, index, at, submitted, 0)
    beginning.push(begin())
    await eventually(async () => {
      const waiting = `select 1 from pg_locks where not granted and relation = 'integrity.cursors'::regclass`
      expect((await pool.query(waiting)).rows).toHaveLength(1)
    })
  })
  expect(await beginning[0]).toMatchObject({ cursors: [{ topic: 't', partition: 0, next_offset: offset + 1 }] })
})

it('belongs to whom the old one belonged, may be used by whom the old one might, and keeps its comment', async () => {
  const role = `reader_${randomUUID().slice(0, 8)}`
  await pool.query(`create role ${role}`)
  await pool.query(`grant select, insert on integrity.entities to ${role}, public`)
  const rights = `select relowner, array(select a::text from unnest(relacl) a order by 1) as acl, obj_description(oid) as about
    from pg_class where oid = 'integrity.entities'::regclass`
  const before = (await pool.query(rights)).rows
  await swap((await begin()).id)
  expect((await pool.query(rights)).rows).toEqual(before)
  await pool.query(`drop owned by ${role}`)
  await pool.query(`drop role ${role}`)
})

it('is made by one at a time, and the next one may begin when the first is gone', async () => {
  await alone(pool, 'rebuild index', async () => {
    const second = alone(pool, 'rebuild index', async () => 'never')
    await expect(second).rejects.toThrow('another "weir rebuild index" is running')
  })
  expect(await alone(pool, 'rebuild index', async () => 'now')).toBe('now')
})
