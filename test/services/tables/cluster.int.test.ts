import { randomBytes, randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { hashOfName } from '#ledger/erasures/gates.js'
import { createErasedTables } from '#persons/erase/clickhouse.js'
import { createOldRows } from '#persons/retention/old-rows.js'
import { createKafka } from '#platform/kafka/kafka.js'
import { partitionOf } from '#platform/kafka/partitions.js'
import { createPool } from '#platform/postgres/postgres.js'
import { createRegistry } from '#platform/registry.js'
import { findRejections } from '#rejections/find-rejections.js'
import { createCatalogue, catalogue as ours } from '#schemas/catalogue.js'
import { createAnalystSql, dropAnalystSql } from '#schemas/derive/analysts.js'
import { acceptedSchema } from '#schemas/derive/avro.js'
import { literal } from '#schemas/derive/clickhouse/columns.js'
import { keptMarts, ofOrganisation } from '#schemas/derive/clickhouse/kept.js'
import { onCluster } from '#schemas/derive/clickhouse/placement.js'
import { clickhouseSql } from '#schemas/derive/clickhouse.js'
import { entityKey, subjectOf, viewOf } from '#schemas/derive/names.js'
import { partitionsOf, usualLayout } from '#schemas/derive/topics.js'
import { moment, text, uuid } from '#schemas/field.js'
import { lifecycle, record } from '#schemas/record.js'
import { transaction } from '#schemas/records/transaction.js'
import { createClickHouseDestination } from '#tables/clickhouse-destination.js'
import { provisionSubjects } from '../../../services/operator/provision/subjects.js'
import { provisionTables } from '../../../services/operator/provision/tables.js'
import { provisionTopics } from '../../../services/operator/provision/topics.js'
import { rebuildAnalytics } from '../../../services/operator/rebuild/rebuild-analytics.js'
import { type Table, tablesOf } from '../../../services/operator/rebuild/tables.js'
import { createRows } from '../../../services/operator/verify/rows.js'
import { createMartKeeper } from '../../../services/sink/keep-marts.js'
import { fill, people, smallWorld, users } from '../../schemas/marts/small-world.js'
import { createFreshDatabase } from '../../support/fresh-database.js'
import { itDeep } from '../../support/it-deep.js'
import { sharedParts } from '../../support/shared-parts.js'
import { cluster, startOneShard } from './one-shard.js'

const { clickhouse, asked, stop } = await startOneShard()
const log = pino({ level: 'silent' })
const thing = record({
  type: `things-${randomBytes(4).toString('hex')}`,
  id: 'thing_id',
  about: 'A thing.',
  fields: { thing_id: uuid(), name: text(), ...lifecycle },
})
const seen = record({
  type: `${thing.type}-seen`,
  id: 'seen_id',
  about: 'A look.',
  stream: { topic: `weir.accepted.${thing.type}-seen`, timesWider: 1, keptDays: 365 },
  assigned: { seen_id: uuid() },
  fields: { name: text(), at: moment() },
})
const catalogue = createCatalogue([thing], seen)
const view = `weir.${viewOf(thing.type)}`

beforeAll(() => provisionTables(clickhouse, catalogue))
afterAll(stop)

const add = (name: string, version: number, day: string, id: string) =>
  clickhouse.command(
    `insert into ${view}_log (org_id, thing_id, name, version, accepted_at) values ('acme', '${id}', '${name}', ${version}, '${day} 12:00:00')`,
  )
const namesIn = async (from: string): Promise<string[]> =>
  (await clickhouse.query<{ name: string }>(`select name from ${from} order by name`)).map(({ name }) => name)

it('asks of each server of a cluster only what ClickHouse can read', async () => {
  const placed = onCluster(cluster)
  const [table] = tablesOf(catalogue, [thing.type], cluster) as [Table]
  const statements = [
    ...clickhouseSql(ours, placed),
    ...createAnalystSql(ours, 'acme-2', 'ab'.repeat(32), placed),
    ...dropAnalystSql(ours, 'acme-2', placed),
    ...[...table.createRebuilt, table.current?.createFeed ?? ''],
    ...asked,
  ]
  expect(
    statements.filter((statement) => !statement.startsWith('insert') && !statement.includes(` on cluster \``)),
  ).toEqual([])
  const once = [...new Set(statements)]
  for (let at = 0; at < once.length; at += 20) {
    const some = once.slice(at, at + 20)
    const read = await clickhouse.query<{ text: string }>(
      `select formatQuerySingleLine(statement) as text from values('statement String', ${some.map(literal).join(', ')})`,
      {},
      { max_query_size: 10_000_000 },
    )
    expect(read.map(({ text }) => text.includes('ON CLUSTER'))).toEqual(some.map((each) => !each.startsWith('insert')))
  }
})

it('shows, keeps, prunes and checks rows behind the names of today, and takes later columns and a second provisioning', async () => {
  const [often, once] = [randomUUID(), randomUUID()]
  await add('a', 1, '1971-01-01', often)
  await add('b', 2, '1971-01-02', often)
  await add('b', 2, '1971-01-02', often)
  await add('c', 3, '1971-01-04', often)
  await add('once', 4, '1971-01-01', once)
  await provisionTables(clickhouse, catalogue)
  expect(await namesIn(view)).toEqual(['c', 'once'])
  expect(await namesIn(`${view}_current_local final`)).toEqual(['c', 'once'])
  expect(await namesIn(`${view}_as_of(at = '1971-01-03')`)).toEqual(['b', 'once'])
  expect(await namesIn(`${view}_history`)).toEqual(['a', 'b', 'c', 'once'])
  expect(await clickhouse.query(`select toUInt32(sum(accepted)) as n from weir.quality`)).toEqual([{ n: 4 }])

  const rows = createRows(clickhouse)
  await rows.settle([thing])
  const found = []
  for await (const some of rows.since(thing, { from: 0, org: undefined, slices: 1 })) found.push(...some)
  expect(found.map(({ version }) => version).sort()).toEqual([3, 4])

  const destination = createClickHouseDestination({ catalogue, clickhouse })
  const before = { history: new Date('1971-01-03T00:00:00Z'), rejections: undefined }
  expect(await destination.countExpired(before)).toMatchObject({ versions: 1 })
  expect(await destination.prune(before)).toMatchObject({ versions: 1 })
  expect(await namesIn(`${view}_history`)).toEqual(['b', 'c', 'once'])
})

it('writes a block again that ClickHouse has seen, in the log and in what it feeds: a first try may have reached only one', async () => {
  const tables = [`${view}_log_local`, `${view}_current_local`]
  for (const table of tables)
    await clickhouse.command(`alter table ${table} modify setting non_replicated_deduplication_window = 100`)
  await clickhouse.command('system stop merges')
  const id = randomUUID()
  const counts = () =>
    Promise.all(
      tables.map(async (table) => {
        const [found] = await clickhouse.query<{ n: number }>(
          `select toUInt32(count()) as n from ${table} where thing_id = '${id}'`,
        )
        return found?.n
      }),
    )
  await add('twice', 7, '1971-01-01', id)
  await add('twice', 7, '1971-01-01', id)
  expect(await counts()).toEqual([2, 2])
  expect(await namesIn(`${view} where thing_id = '${id}'`)).toEqual(['twice'])
  // As the server would do by itself.
  const passedOver = `insert into ${view}_log (org_id, thing_id, version) settings deduplicate_insert = 'enable' values ('acme', '${id}', 8)`
  await clickhouse.command(passedOver)
  await clickhouse.command(passedOver)
  expect((await counts())[0]).toBe(3)
  await clickhouse.command('system start merges')
  for (const table of tables) await clickhouse.command(`delete from ${table} where thing_id = '${id}'`)
})

it('finds and forgets refused records', async () => {
  await clickhouse.command(
    `insert into weir.rejections_log values ('acme', '${randomUUID()}', '${randomUUID()}', '1971-01-01 12:00:00', 1, '${thing.type}', 0,
      '${randomUUID()}', [(null, 'unknown_reference', 'no')], '{}', false)`,
  )
  expect(await findRejections(clickhouse, { org: 'acme' }, 3)).toMatchObject([{ type: thing.type }])
  const destination = createClickHouseDestination({ catalogue, clickhouse })
  const before = { rejections: new Date('1971-01-02T00:00:00Z'), history: undefined }
  expect(await destination.prune(before)).toMatchObject({ rejections: 1 })
  expect(await findRejections(clickhouse, { org: 'acme' }, 3)).toEqual([])
})

it('rebuilds a table: the old versions stay, aliens go, and the new one has a path of its own', async () => {
  const kafka = createKafka({ brokers: sharedParts.KAFKA_BROKERS, clientId: 'cluster-test', log })
  const registry = createRegistry(sharedParts.SCHEMA_REGISTRY_URL)
  const database = await createFreshDatabase(sharedParts.POSTGRES_URL)
  const pool = createPool(database.url, log)
  await provisionTopics(kafka, catalogue, 1)
  await provisionSubjects(registry, catalogue)
  const [table] = tablesOf(catalogue, [thing.type], cluster) as [Table]
  const encode = await registry.encoder<Record<string, unknown>>(subjectOf(table.topic), acceptedSchema(thing))
  const nothing = Object.fromEntries(Object.keys(lifecycle).map((field) => [field, null]))
  const id = randomUUID()
  const origin = {
    org_id: 'acme',
    request_id: randomUUID(),
    batch_id: randomUUID(),
    accepted_at: Date.now(),
    version: 5,
  }
  const producer = await kafka.createProducer()
  const key = entityKey('acme', id)
  const value = encode({ ...origin, ...nothing, thing_id: id, name: 'new' })
  await producer.send(table.topic, partitionOf(key, partitionsOf(usualLayout, table.topic)), [{ key, value }])
  await producer.close()
  await add('old', 2, '1971-01-02', id)
  await add('alien', 2, '1971-01-02', randomUUID())

  const signal = new AbortController().signal
  const rebuilt = await rebuildAnalytics({ kafka, registry, clickhouse, pool, tables: [table], log, signal })
  expect(rebuilt).toMatchObject([{ events: 1, carried: 1, rows_after: 1 }])
  expect(await namesIn(view)).toEqual(['new'])
  expect(await namesIn(`${view}_history`)).toEqual(['new', 'old'])
  const paths = asked.flatMap((statement) => /'\/clickhouse\/tables\/([^']*_log\/[^']*)'/.exec(statement)?.[1] ?? [])
  expect(paths.filter((path) => path.includes(`/${viewOf(thing.type)}_log/`)).length).toBeGreaterThan(1)
  expect(new Set(paths.map((path) => path.replace(/\/\w+$/, ''))).size).toBeLessThan(new Set(paths).size)
  expect(
    await clickhouse.query(`select name from system.tables where database = 'weir' and name like '%rebuilt%'`),
  ).toEqual([])
  await pool.end()
  await database.drop()
})

// On one server: test/schemas/marts/kept, in every run.
itDeep('keeps marts there as on one server', async () => {
  await provisionTables(clickhouse, ours)
  await fill(clickhouse, 'shopkeepers', smallWorld)
  const keeper = createMartKeeper(clickhouse, ours, 1)
  for (const mart of keptMarts) {
    const rows = await clickhouse.query(`${ofOrganisation(mart, 'shopkeepers')} order by all`)
    for (const isWhole of [true, false]) {
      await keeper.keep({ org: 'shopkeepers', mart, isWhole })
      const shown = `select * from weir.${mart.name} where org_id = 'shopkeepers' order by all`
      expect(await clickhouse.query(shown), mart.name).toEqual(rows)
    }
  }
  await keeper.forget()
  expect((await keeper.due(await keeper.large())).filter(({ org }) => org === 'shopkeepers')).toEqual([])
})

// On one server: test/journeys/erasure.e2e and retention.e2e, in every run.
itDeep('takes persons, what is too old and whole organisations out of its tables', async () => {
  await provisionTables(clickhouse, ours)
  for (const org of ['left', 'stays']) await fill(clickhouse, org, smallWorld)
  const salt = randomBytes(32)
  const hashes = [people.ann, users.ann].map((name) => hashOfName(salt, name).toString('hex'))
  const ofPerson = { orgId: 'left', salt, persons: new Map([['an erasure', hashes]]), whole: [] }
  const tables = createErasedTables(clickhouse, ours, { cluster })
  const { signal } = new AbortController()
  const stays = async () => {
    const counts = await tables.count({ orgId: 'stays', salt, persons: new Map(), whole: ['another'] })
    // All marts are made anew.
    return counts.get('another')?.filter(({ where }) => !where.includes('.changes'))
  }
  const before = await stays()

  const found = (await tables.count(ofPerson)).get('an erasure')?.map(({ where }) => where)
  expect(found).toEqual(expect.arrayContaining(['weir.customers_log_local', 'weir.transactions_log_local']))
  await tables.remove(ofPerson, signal)
  expect((await tables.count(ofPerson)).get('an erasure')).toEqual([])
  const named = `select count() as count from weir.transactions where org_id = 'left' and student_id = '${people.ann}'`
  expect(Number((await clickhouse.query<{ count: number }>(named))[0]?.count)).toBe(0)

  const rows = createOldRows(clickhouse, { cluster })
  const day = 24 * 60 * 60 * 1000
  const cutoffs = { type: transaction, byOrg: new Map([['left', Date.now() + day]]), others: undefined }
  expect((await rows.count(cutoffs)).map(({ where }) => where)).toContain('weir.transactions_log')
  await rows.remove(cutoffs, signal)
  expect(await rows.count(cutoffs)).toEqual([])

  const whole = { orgId: 'left', salt, persons: new Map(), whole: ['a deletion'] }
  await tables.remove(whole, signal)
  expect((await tables.count(whole)).get('a deletion')).toEqual([])
  expect(await stays()).toEqual(before)
  expect(asked.filter((each) => / delete where /.test(each) && !each.includes(` on cluster \``))).toEqual([])
})
