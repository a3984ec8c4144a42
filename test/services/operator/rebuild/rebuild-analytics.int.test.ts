import { randomBytes, randomUUID } from 'node:crypto'
import { Kafka, logLevel, Partitioners } from 'kafkajs'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { createClickHouse } from '#platform/clickhouse.js'
import { createKafka } from '#platform/kafka/kafka.js'
import { partitionOf } from '#platform/kafka/partitions.js'
import { createPool, type Pool } from '#platform/postgres/postgres.js'
import { createRegistry } from '#platform/registry.js'
import { createCatalogue } from '#schemas/catalogue.js'
import { acceptedSchema } from '#schemas/derive/avro.js'
import { entityKey, subjectOf } from '#schemas/derive/names.js'
import { partitionsOf, usualLayout } from '#schemas/derive/topics.js'
import { moment, text, uuid } from '#schemas/field.js'
import { lifecycle, type RecordType, record } from '#schemas/record.js'
import { alone } from '../../../../services/operator/command/alone.js'
import { provisionSubjects } from '../../../../services/operator/provision/subjects.js'
import { provisionTables } from '../../../../services/operator/provision/tables.js'
import { provisionTopics } from '../../../../services/operator/provision/topics.js'
import { rebuildAnalytics } from '../../../../services/operator/rebuild/rebuild-analytics.js'
import { type Table, tablesOf } from '../../../../services/operator/rebuild/tables.js'
import { createFreshDatabase } from '../../../support/fresh-database.js'
import { sharedParts } from '../../../support/shared-parts.js'
import { startOwnClickHouse } from '../../../support/stack.js'

const { env: parts, stop } = await startOwnClickHouse(sharedParts)
const log = pino({ level: 'silent' })
const kafka = createKafka({ brokers: parts.KAFKA_BROKERS, clientId: 'rebuild-test', log })
const registry = createRegistry(parts.SCHEMA_REGISTRY_URL)
const clickhouse = createClickHouse(parts.CLICKHOUSE_URL)

// Types that no other test knows: their topics and tables are ours alone.
const stem = `things-${randomBytes(4).toString('hex')}`
const thing = record({
  type: stem,
  id: 'thing_id',
  about: 'A thing.',
  fields: { thing_id: uuid(), name: text(), ...lifecycle },
})
const look = record({
  type: `${stem}-seen`,
  id: 'seen_id',
  about: 'A look.',
  stream: { topic: `weir.accepted.${stem}-seen`, timesWider: 1, keptDays: 365 },
  assigned: { seen_id: uuid() },
  fields: { name: text(), at: moment() },
})
const catalogue = createCatalogue([thing], look)
const [things, looks] = tablesOf(catalogue, [thing.type, look.type]) as [Table, Table]

const plain = new Kafka({ brokers: parts.KAFKA_BROKERS.split(','), logLevel: logLevel.NOTHING })
const stranger = plain.producer({ createPartitioner: Partitioners.DefaultPartitioner })

let database: Awaited<ReturnType<typeof createFreshDatabase>>
let pool: Pool
let producer: Awaited<ReturnType<typeof kafka.createProducer>>
beforeAll(async () => {
  database = await createFreshDatabase(parts.POSTGRES_URL)
  pool = createPool(database.url, log)
  await provisionTopics(kafka, catalogue, 1)
  await provisionSubjects(registry, catalogue)
  await provisionTables(clickhouse, catalogue)
  producer = await kafka.createProducer()
  await stranger.connect()
})
afterAll(async () => {
  await stranger.disconnect()
  await producer.close()
  await clickhouse.close()
  await stop()
  await pool.end()
  await database.drop()
})

/** Accepts as integrity does; nobody writes it to ClickHouse. */
const accept = async (type: RecordType, table: Table, name: string, version = 1, id: string = randomUUID()) => {
  const encode = await registry.encoder<Record<string, unknown>>(subjectOf(table.topic), acceptedSchema(type))
  const origin = { org_id: 'acme', request_id: randomUUID(), batch_id: randomUUID(), accepted_at: Date.now(), version }
  const nothing = Object.fromEntries(Object.keys(lifecycle).map((field) => [field, null]))
  const key = entityKey('acme', id)
  const value = encode({ ...origin, ...nothing, [type.id]: id, name, at: 1_700_000_000_000 })
  await producer.send(table.topic, partitionOf(key, partitionsOf(usualLayout, table.topic)), [{ key, value }])
  return { id, value }
}
/** What says that a record is gone, written as anybody's producer writes it. */
const takeAway = async (table: Table, id: string) => {
  const key = entityKey('acme', id)
  const partition = partitionOf(key, partitionsOf(usualLayout, table.topic))
  await stranger.send({ topic: table.topic, messages: [{ key, partition, value: null }] })
}
/** An id whose events go to this partition of the looks. */
const idIn = (partition: number): string => {
  const id = randomUUID()
  return partitionOf(entityKey('acme', id), partitionsOf(usualLayout, looks.topic)) === partition ? id : idIn(partition)
}
const rebuild = (...tables: Table[]) =>
  rebuildAnalytics({ kafka, registry, clickhouse, pool, tables, log, signal: new AbortController().signal })
const namesIn = async (from: string): Promise<string[]> =>
  (await clickhouse.query<{ name: string }>(`select name from ${from} order by name`)).map(({ name }) => name)
const addRow = (table: Table, name: string, version: number, id: string = randomUUID()) =>
  clickhouse.command(
    `insert into ${table.log} (org_id, accepted_at, version, ${table === things ? 'thing_id' : 'seen_id'}, name)
     values ('acme', now64(3), ${version}, '${id}', '${name}')`,
  )
const leftovers = () =>
  clickhouse.query(`select name from system.tables where database = 'weir' and name like '%rebuilt%'`)

beforeEach(async () => {
  await clickhouse.command(`truncate table ${things.log}`)
  await clickhouse.command(`truncate table ${things.current?.name}`)
})

it('makes a table right that was emptied, that holds aliens, a wrong value and rows twice', async () => {
  const { id } = await accept(thing, things, 'first', 1)
  await accept(thing, things, 'first, changed', 2, id)
  const { id: other } = await accept(thing, things, 'second', 3)
  expect(await rebuild(things)).toMatchObject([{ type: thing.type, rows_before: 0, rows_after: 2, carried: 0 }])
  expect(await namesIn(things.view)).toEqual(['first, changed', 'second'])

  await addRow(things, 'alien', 1)
  await addRow(things, 'wrong', 99, id)
  await addRow(things, 'second', 3, other)
  expect(await namesIn(things.view)).toEqual(['alien', 'second', 'wrong'])
  expect(await rebuild(things)).toMatchObject([{ rows_before: 3, rows_after: 2 }])
  expect(await namesIn(`${things.log} final`)).toEqual(['first', 'first, changed', 'second'])
  expect(await namesIn(`${things.current?.name} final`)).toEqual(['first, changed', 'second'])
  expect(await leftovers()).toEqual([])
})

it('keeps the versions that the topic has forgotten, but no rows of records that it never had', async () => {
  const { id } = await accept(thing, things, 'new', 50)
  await rebuild(things)
  await addRow(things, 'forgotten', 20, id)
  await addRow(things, 'never there', 20)
  await addRow(things, 'too new', 60, id)
  await addRow(things, 'wrong', 50, id)
  expect(await rebuild(things)).toMatchObject([{ carried: 1 }])
  const history = await namesIn(`(select * from ${things.log} final where thing_id = '${id}')`)
  expect(history).toEqual(['forgotten', 'new'])
  expect(await namesIn(things.view)).not.toContain('never there')
  expect(await rebuild(things)).toMatchObject([{ carried: 1 }])
  expect(await namesIn(`(select * from ${things.log} final where thing_id = '${id}')`)).toEqual(history)
})

it('makes of a log that keeps only the newest versions one that keeps all', async () => {
  const { id } = await accept(thing, things, 'before', 1)
  await accept(thing, things, 'after', 2, id)
  await clickhouse.command(
    `create table ${things.log}_old as ${things.log} engine = ReplacingMergeTree(version) order by (org_id, thing_id)`,
  )
  await clickhouse.command(`exchange tables ${things.log} and ${things.log}_old`)
  await clickhouse.command(`drop table ${things.log}_old sync`)
  await addRow(things, 'before', 1, id)
  await addRow(things, 'after', 2, id)
  await rebuild(things)
  await clickhouse.command(`optimize table ${things.log} final`)
  expect(await namesIn(`(select * from ${things.log} where thing_id = '${id}')`)).toEqual(['after', 'before'])
  expect(await namesIn(`(select * from ${things.view} where thing_id = '${id}')`)).toEqual(['after'])
})

it('leaves out what strangers wrote, and what is cut off, and counts it', async () => {
  const { value } = await accept(thing, things, 'before the strangers')
  const [{ skipped: before = 0 } = {}] = await rebuild(things)
  const strangers = [Buffer.from('garbage'), Buffer.alloc(0), value.subarray(0, value.length - 3)]
  for (const stranger of strangers) await producer.send(things.topic, 0, [{ key: 'stranger', value: stranger }])
  await accept(thing, things, 'behind the strangers')
  expect(await rebuild(things)).toMatchObject([{ skipped: before + strangers.length }])
  expect(await namesIn(things.view)).toEqual(expect.arrayContaining(['before the strangers', 'behind the strangers']))
})

it('has no row of a record that is gone, and of one that came again only what came then', async () => {
  const ids = [randomUUID(), randomUUID()] as [string, string]
  for (const [n, id] of ids.entries()) {
    await accept(thing, things, `old ${n}`, 1, id)
    await accept(thing, things, `newer ${n}`, 2, id)
  }
  await rebuild(things)
  expect(await namesIn(things.view)).toEqual(expect.arrayContaining(['newer 0', 'newer 1']))
  await addRow(things, 'forgotten 1', 0, ids[1])
  for (const id of ids) await takeAway(things, id)
  await accept(thing, things, 'again 1', 7, ids[1])
  await accept(thing, things, 'again and newer 1', 8, ids[1])
  const { id: seen } = await accept(look, looks, 'a look that is gone', 1)
  await takeAway(looks, seen)

  await rebuild(things, looks)
  const ofThem = (from: string) => namesIn(`(select * from ${from} where thing_id in ('${ids.join("', '")}'))`)
  expect(await ofThem(`${things.log} final`)).toEqual(['again 1', 'again and newer 1'])
  expect(await ofThem(`${things.current?.name} final`)).toEqual(['again and newer 1'])
  expect(await ofThem(things.view)).toEqual(['again and newer 1'])
  expect(await namesIn(looks.view)).not.toContain('a look that is gone')
})

it('keeps the rows that the topic no longer holds, and only those', async () => {
  const everywhere = Array.from({ length: partitionsOf(usualLayout, looks.topic) }, (_, partition) => partition)
  for (const partition of everywhere)
    for (const n of [1, 2, 3, 4, 5]) await accept(look, looks, `look ${partition}/${n}`, n, idIn(partition))
  await rebuild(looks)
  const all = await namesIn(looks.view)
  expect(all).toHaveLength(everywhere.length * 5)

  // Nothing is left of partition 0, some of partition 1, all of the others.
  const partitions = [
    { partition: 0, offset: '5' },
    { partition: 1, offset: '2' },
  ]
  await kafka.withAdmin(async (admin) => {
    // kafkajs deletes only from topics that this very connection has asked about.
    await admin.fetchTopicOffsets(looks.topic)
    await admin.deleteTopicRecords({ topic: looks.topic, partitions })
  })
  for (const partition of everywhere) await addRow(looks, `alien ${partition}`, 1, idIn(partition))

  const [{ carried = 0 } = {}] = await rebuild(looks)
  expect(carried).toBeGreaterThanOrEqual(7)
  const names = await namesIn(looks.view)
  expect(names.filter((name) => name.startsWith('look'))).toEqual(all)
  // Where the topic tells nothing, the old table is believed; everywhere else it is not.
  expect(names.filter((name) => name.startsWith('alien'))).toEqual(['alien 0', 'alien 1'])
})

it('begins again where an earlier one was cut off, before and after it exchanged the tables', async () => {
  await accept(thing, things, 'kept')
  for (const statement of things.createRebuilt) await clickhouse.command(statement)
  await clickhouse.command(
    `create materialized view ${things.copier} to ${things.rebuilt} as select * from ${things.log}`,
  )
  await rebuild(things)
  const names = await namesIn(things.view)
  expect(names).toContain('kept')
  for (const statement of things.createRebuilt) await clickhouse.command(statement)
  await clickhouse.command(
    `create materialized view ${things.copier} to ${things.rebuilt} as select * from ${things.log}`,
  )
  await clickhouse.command(`exchange tables ${things.log} and ${things.rebuilt}`)
  await rebuild(things)
  expect(await namesIn(things.view)).toEqual(names)
  expect(await leftovers()).toEqual([])
})

it('is done by one at a time', () =>
  alone(pool, 'rebuild analytics', () =>
    expect(rebuild(things)).rejects.toThrow('another "weir rebuild analytics" is running'),
  ))
