import { randomBytes, randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findLayout } from '#ledger/layout/layout.js'
import { createClickHouse } from '#platform/clickhouse.js'
import { createKafka } from '#platform/kafka/kafka.js'
import { countPartitions } from '#platform/kafka/read-topics.js'
import { createPool } from '#platform/postgres/postgres.js'
import { readConfig } from '#platform/process/config.js'
import { createRegistry } from '#platform/registry.js'
import { type Catalogue, createCatalogue } from '#schemas/catalogue.js'
import { schemasByTopic } from '#schemas/derive/avro.js'
import {
  acceptedTopic,
  asOfViewOf,
  currentFeedOf,
  currentTableOf,
  historyViewOf,
  logTableOf,
  subjectOf,
  submittedTopic,
  viewOf,
} from '#schemas/derive/names.js'
import { topicsOf } from '#schemas/derive/topics.js'
import { choice, type Field, moment, number, optional, text, uuid } from '#schemas/field.js'
import { lifecycle, record } from '#schemas/record.js'
import { configSchema } from '../../../../services/operator/config.js'
import { provision } from '../../../../services/operator/provision/provision.js'
import { provisionSubjects } from '../../../../services/operator/provision/subjects.js'
import { provisionTables } from '../../../../services/operator/provision/tables.js'
import { provisionTopics } from '../../../../services/operator/provision/topics.js'
import { createTopics } from '../../../support/create-topics.js'
import { eventually } from '../../../support/eventually.js'
import { createFreshDatabase } from '../../../support/fresh-database.js'
import { sharedParts } from '../../../support/shared-parts.js'
import { sized } from '../../../support/sized.js'
import { startOwnClickHouse } from '../../../support/stack.js'

const { env: parts, stop } = await startOwnClickHouse(sharedParts)
const log = pino({ level: 'silent' })
const kafka = createKafka({ brokers: parts.KAFKA_BROKERS, clientId: 'operator-test', log })
const registry = createRegistry(parts.SCHEMA_REGISTRY_URL)
const clickhouse = createClickHouse(parts.CLICKHOUSE_URL)
let database: Awaited<ReturnType<typeof createFreshDatabase>>

/** A catalogue of two types that no other test knows. */
const newCatalogue = (stem: string): { catalogue: Catalogue; type: string } => {
  const type = `${stem}-${randomBytes(4).toString('hex')}`
  return { type, catalogue: catalogueOf(type, { size: text() }) }
}

const catalogueOf = (type: string, fields: Record<string, Field>): Catalogue =>
  createCatalogue(
    [record({ type, id: 'thing_id', about: 'A thing.', fields: { thing_id: uuid(), ...fields, ...lifecycle } })],
    record({
      type: `${type}-seen`,
      id: 'seen_id',
      about: 'A look.',
      assigned: { seen_id: uuid() },
      fields: { at: moment() },
    }),
  )

const provisionAll = async (catalogue: Catalogue): Promise<string[]> => {
  const lines: string[] = []
  const config = readConfig(configSchema, { ...parts, POSTGRES_URL: database.url, LOG_LEVEL: 'silent' })
  const report = (line: string) => lines.push(line.replace(/ \([\d.]+ s\)$/, ''))
  await provision({ config, catalogue, log, report, wait: 20_000, demoKeyFile: undefined })
  return lines
}

const entriesOf = (topic: string) =>
  kafka.withAdmin(async (admin) => {
    const { resources } = await admin.describeConfigs({ includeSynonyms: false, resources: [{ type: 2, name: topic }] })
    return resources[0]?.configEntries ?? []
  })

const settingsOf = async (topic: string): Promise<Record<string, string>> =>
  Object.fromEntries((await entriesOf(topic)).map((entry) => [entry.configName, entry.configValue]))

/** Without what the topic has from its broker. */
const ownSettingsOf = async (topic: string): Promise<Record<string, string>> => {
  const own = (await entriesOf(topic)).filter(({ configSource }) => configSource === 1)
  return Object.fromEntries(own.map((entry) => [entry.configName, entry.configValue]))
}

const compatibilityOf = async (topic: string): Promise<string> => {
  const answer = await fetch(`${parts.SCHEMA_REGISTRY_URL}/config/${subjectOf(topic)}`)
  return ((await answer.json()) as { compatibilityLevel: string }).compatibilityLevel
}

beforeAll(async () => {
  database = await createFreshDatabase(parts.POSTGRES_URL)
})

afterAll(async () => {
  await clickhouse.close()
  await stop()
  await database?.drop()
})

describe('provisioning', () => {
  it('makes topics, subjects and tables, and finds nothing to do the second time', async () => {
    const { catalogue, type } = newCatalogue('things')
    const lines = await provisionAll(catalogue)
    expect(lines[1]).toMatch(/^Postgres: [1-9]\d* migrations run$/)
    await addRow(logTableOf(type), small)
    expect(await provisionAll(catalogue)).toEqual([
      'all parts answer',
      'Postgres: 0 migrations run',
      'Kafka: 8 topics, 0 created, 0 altered; LANES=1 SUBMITTED_PARTITIONS=4 ACCEPTED_PARTITIONS=4',
      expect.stringMatching(/^ClickHouse: \d+ statements$/),
      'registry: 8 subjects',
    ])
    // What is in the log is not written to the table of the newest versions again.
    expect(await rowsOf(`weir.${currentTableOf(type)}`)).toEqual([small])

    const wanted = topicsOf(catalogue)
    const { topics } = await kafka.withAdmin((admin) =>
      admin.fetchTopicMetadata({ topics: wanted.map(({ name }) => name) }),
    )
    expect(new Map(topics.map(({ name, partitions }) => [name, partitions.length]))).toEqual(
      new Map(wanted.map(({ name, partitions }) => [name, partitions])),
    )
    expect(await settingsOf(acceptedTopic(type))).toMatchObject({
      'cleanup.policy': 'compact',
      'compression.type': 'producer',
    })

    const subject = `${parts.SCHEMA_REGISTRY_URL}/subjects/${subjectOf(submittedTopic(type))}`
    expect(await (await fetch(`${subject}/versions`)).json()).toEqual([1])
    for (const { name } of wanted) expect(await compatibilityOf(name)).toBe('FULL_TRANSITIVE')

    const names = await clickhouse.query<{ name: string }>(
      `select name from system.tables where database = 'weir' and name in ({names:Array(String)}) order by name`,
      { names: tablesAndViews(type) },
    )
    expect(names.map(({ name }) => name)).toEqual(tablesAndViews(type).sort())
  })

  it('makes a system as wide as it is told the first time, stores that, and refuses another width', async () => {
    const { catalogue, type } = newCatalogue('wide')
    const own = await createFreshDatabase(parts.POSTGRES_URL)
    const pool = createPool(own.url, log, 1)
    const provisionWith = (env: Record<string, string>, newPartitions?: number) =>
      provision({
        config: readConfig(configSchema, { ...parts, POSTGRES_URL: own.url, LOG_LEVEL: 'silent', ...env }),
        ...{ catalogue, log, report: () => {}, wait: 20_000, demoKeyFile: undefined, newPartitions, quick: true },
      })
    try {
      await provisionWith({ LANES: '3', ACCEPTED_PARTITIONS: '4' }, 6)
      expect(await findLayout(pool)).toEqual({ generation: 0, lanes: 3, submittedPartitions: 6, acceptedPartitions: 4 })
      const topics = [submittedTopic(type), acceptedTopic(type)]
      const counts = await countPartitions(kafka, topics)
      expect(topics.map((topic) => counts.get(topic))).toEqual([6, 4])

      await provisionWith({}, 24)
      await provisionWith({ LANES: '3', SUBMITTED_PARTITIONS: '6' })
      await expect(provisionWith({ LANES: '4' })).rejects.toThrow(
        'LANES=4 was asked for, and this system has LANES=3: set LANES=3, or unset LANES',
      )
      expect(await findLayout(pool)).toEqual({ generation: 0, lanes: 3, submittedPartitions: 6, acceptedPartitions: 4 })

      // A system from before layouts were stored has one lane and the partitions that it has.
      await pool.query('truncate integrity.layouts')
      await pool.query(`insert into integrity.cursors (topic, partition, next_offset) values ($1, 0, 7)`, [topics[0]])
      await expect(provisionWith({ LANES: '3' })).rejects.toThrow('this system has LANES=1')
      await provisionWith({}, 24)
      expect(await findLayout(pool)).toEqual({ generation: 0, lanes: 1, submittedPartitions: 6, acceptedPartitions: 4 })
    } finally {
      await pool.end()
      await own.drop()
    }
  })

  it('may be run by several at the same time', async () => {
    const { catalogue } = newCatalogue('crowded')
    const done = await Promise.all(sized([1, 2], [1, 2, 3]).map(() => provisionAll(catalogue)))
    for (const lines of done) expect(lines).toHaveLength(5)
  })
})

const tablesAndViews = (type: string): string[] =>
  [viewOf, logTableOf, currentTableOf, currentFeedOf, historyViewOf, asOfViewOf].map((nameOf) => nameOf(type))

const rowsOf = (from: string) =>
  clickhouse.query(`select thing_id, size, toUInt32(version) as version from ${from} order by version`)
const small = { thing_id: randomUUID(), size: 'small', version: 1 }
const large = { thing_id: randomUUID(), size: 'large', version: 2 }
const addRow = (log: string, { thing_id, size, version }: typeof small) =>
  clickhouse.command(
    `insert into weir.${log} (org_id, thing_id, size, version) values ('acme', '${thing_id}', '${size}', ${version})`,
  )

describe('tables', () => {
  it('of a Weir that kept only the newest versions are taken over, and go on being fed', async () => {
    const { catalogue, type } = newCatalogue('older')
    const [view, table] = [viewOf(type), logTableOf(type)]
    await clickhouse.command('create database if not exists weir')
    await clickhouse.command(
      `create table weir.${table} (org_id LowCardinality(String), request_id UUID, batch_id UUID,
        accepted_at DateTime64(3, 'UTC'), version UInt64, thing_id UUID, size String)
      engine = ReplacingMergeTree(version) order by (org_id, thing_id)`,
    )
    await clickhouse.command(`create view weir.${view} as select org_id, thing_id, size from weir.${table} final`)
    await addRow(table, small)
    expect((await provisionAll(catalogue)).at(-1)).toBe(
      '1 table keeps only the newest version of each record: run "weir rebuild analytics" once to keep every version from now on',
    )
    expect(await rowsOf(`weir.${view}`)).toEqual([small])
    await addRow(table, large)
    expect(await rowsOf(`weir.${view}`)).toEqual([small, large])
  })

  const { catalogue, type } = newCatalogue('quick')

  it('are left as they are where the same Weir made all of them and that is enough, and made where one is gone', async () => {
    const quick = async () => (await provisionTables(clickhouse, catalogue, new Set(), { quick: true })).statements
    const all = await quick()
    expect(all).toBeGreaterThan(0)
    expect(await quick()).toBe(0)
    await clickhouse.command(`drop view weir.${viewOf(type)}`)
    expect(await quick()).toBe(all)
  })

  it('of kept rows are made anew where their order or their columns are others, and all others stay', async () => {
    await provisionTables(clickhouse, catalogue, new Set(), { quick: true })
    const tables = () =>
      clickhouse.query<{ name: string; made: string }>(
        `select name, engine_full as made from system.tables where database = 'weir'
        and name in ('sales_by_day_kept', 'cohorts_kept', 'funnel_kept', 'offers_used_kept') order by name`,
      )
    const asDeclared = await tables()
    await clickhouse.command("insert into weir.cohorts_kept (org_id) values ('acme')")
    await clickhouse.command('alter table weir.funnel_kept add column another UInt8')
    await clickhouse.command('drop table weir.sales_by_day_kept')
    await clickhouse.command(
      'create table weir.sales_by_day_kept (org_id String, day Date32) engine = MergeTree order by (org_id, day)',
    )
    // In the same order, with as many rows to a mark as ClickHouse takes by itself.
    const [{ key } = { key: '' }] = await clickhouse.query<{ key: string }>(
      "select sorting_key as key from system.tables where database = 'weir' and name = 'offers_used_kept'",
    )
    await clickhouse.command(
      `create table weir.like_before as weir.offers_used_kept engine = MergeTree order by (${key})`,
    )
    await clickhouse.command('exchange tables weir.like_before and weir.offers_used_kept')
    await clickhouse.command('drop table weir.like_before')
    await provisionTables(clickhouse, catalogue)
    expect(await tables()).toEqual(asDeclared)
    expect(await clickhouse.query('select toUInt8(count()) as rows from weir.cohorts_kept')).toEqual([{ rows: 1 }])
    const another =
      "select name from system.columns where database = 'weir' and table = 'funnel_kept' and name = 'another'"
    expect(await clickhouse.query(another)).toEqual([])
  })
})

const columnsOf = (type: string) =>
  clickhouse.query<{ name: string; type: string }>(
    `select name, type from system.columns where database = 'weir' and table = {table:String} order by position`,
    { table: logTableOf(type) },
  )

describe('a column', () => {
  it('that came later, or can hold what is there, is made so with what it means; another is refused by name, and no table is touched', async () => {
    const { type } = newCatalogue('altered')
    await provisionTables(clickhouse, catalogueOf(type, { size: choice(['small', 'large']) }))
    await addRow(logTableOf(type), small)
    const colour = optional(text("the maker's word for it"))
    const later = catalogueOf(type, { size: optional(text()), colour })
    expect(await provisionTables(clickhouse, later)).toMatchObject({ analysts: 0, outdated: [] })
    for (const table of [logTableOf(type), currentTableOf(type)]) {
      const [column] = await clickhouse.query(
        `select type from system.columns where database = 'weir' and table = '${table}' and name = 'size'`,
      )
      expect(column).toEqual({ type: 'Nullable(String)' })
    }
    for (const name of [logTableOf, currentTableOf, viewOf, historyViewOf]) {
      const columns = await clickhouse.query<{ name: string; comment: string }>(`describe table weir.${name(type)}`)
      expect(columns.find((column) => column.name === 'colour')?.comment).toBe("the maker's word for it")
    }
    await clickhouse.command(
      `insert into weir.${logTableOf(type)} (org_id, thing_id, size, version, colour)
      values ('acme', '${large.thing_id}', null, 2, 'red')`,
    )
    expect(await clickhouse.query(`select size, colour from weir.${viewOf(type)} order by version`)).toEqual([
      { size: 'small', colour: null },
      { size: null, colour: 'red' },
    ])

    const before = await columnsOf(type)
    await expect(
      provisionTables(clickhouse, catalogueOf(type, { size: number(), weight: optional(text()) })),
    ).rejects.toThrow('the column size of weir.')
    expect(await columnsOf(type)).toEqual(before)
  })
})

describe('a schema', () => {
  const colour = optional(text())

  it('may gain an optional field, and lose it again', async () => {
    const { catalogue, type } = newCatalogue('grown')
    await provisionSubjects(registry, catalogue)
    await provisionSubjects(registry, catalogueOf(type, { size: text(), colour }))
    await provisionSubjects(registry, catalogue)
  })

  const forbidden = [
    { what: 'changes a field', fields: { size: number(), colour }, reason: 'size: string becomes double' },
    {
      what: 'makes a required field optional',
      fields: { size: optional(text()), colour },
      reason: 'size: string becomes null or string',
    },
    { what: 'loses a required field', fields: { colour }, reason: 'size is gone' },
    { what: 'loses an optional field', fields: { size: text(), weight: optional(number()) }, reason: 'colour is gone' },
    {
      what: 'gains a required field',
      fields: { size: text(), colour, weight: number() },
      reason: 'weight is new and required',
    },
  ]
  it.each(forbidden.slice(0, sized(1, forbidden.length)))(
    'that $what is refused with the field named, and nothing else has changed by then',
    async ({ fields, reason }) => {
      const { catalogue, type } = newCatalogue('typed')
      await provisionSubjects(registry, catalogue)
      await provisionAll(catalogueOf(type, { size: text(), colour }))
      const changed = catalogueOf(type, fields)
      const columnsBefore = await columnsOf(type)
      await expect(provisionAll(changed)).rejects.toThrow(
        new RegExp(
          `the schema of weir\\.(accepted|submitted)\\.${type}-value cannot change so: (records\\.)?${reason}`,
        ),
      )
      const versions = await fetch(`${parts.SCHEMA_REGISTRY_URL}/subjects/${subjectOf(acceptedTopic(type))}/versions`)
      expect(await versions.json()).toEqual([1, 2])
      expect(await columnsOf(type)).toEqual(columnsBefore)
    },
  )

  it('of submitted batches is taken beside those of earlier releases, which lacked the fields at its end', async () => {
    const { catalogue, type } = newCatalogue('upgraded')
    const subject = subjectOf(submittedTopic(type))
    const schema = schemasByTopic(catalogue.all.values()).get(submittedTopic(type)) as { fields: { name: string }[] }
    const without = (...names: string[]) => schema.fields.filter(({ name }) => !names.includes(name))
    for (const fields of [without('gathered', 'keyed_requests'), without('keyed_requests')])
      await registry.register(subject, { ...schema, fields }, 'FULL_TRANSITIVE')
    await provisionSubjects(registry, catalogue)
    const versions = await fetch(`${parts.SCHEMA_REGISTRY_URL}/subjects/${subject}/versions`)
    expect(await versions.json()).toEqual([1, 2, 3])
  })

  it('of a subject that was made with a weaker rule is held to the stronger one from then on', async () => {
    const { catalogue, type } = newCatalogue('raised')
    const topic = acceptedTopic(type)
    const schema = schemasByTopic(catalogue.all.values()).get(topic)
    const id = await registry.register(subjectOf(topic), schema, 'BACKWARD_TRANSITIVE')
    expect(await compatibilityOf(topic)).toBe('BACKWARD_TRANSITIVE')
    await provisionSubjects(registry, catalogue)
    expect(await compatibilityOf(topic)).toBe('FULL_TRANSITIVE')
    expect(await registry.register(subjectOf(topic), schema, 'FULL_TRANSITIVE')).toBe(id)
    await expect(provisionSubjects(registry, catalogueOf(type, {}))).rejects.toThrow('the registry refuses the schema')
  })
})

describe('an older Weir', () => {
  it('that is provisioned again leaves the tables of a newer one as they are, and says so', async () => {
    const { catalogue, type } = newCatalogue('rolled-back')
    await provisionSubjects(registry, catalogue)
    await provisionAll(catalogueOf(type, { size: text(), colour: optional(text()) }))
    expect((await provisionAll(catalogue)).at(-1)).toBe(
      `a newer Weir was provisioned here: its tables of ${type} are kept`,
    )
    await clickhouse.command(
      `insert into weir.${logTableOf(type)} (org_id, thing_id, size, version, colour)
      values ('acme', '${randomUUID()}', 'small', 1, 'red')`,
    )
    expect(await clickhouse.query(`select colour from weir.${viewOf(type)}`)).toEqual([{ colour: 'red' }])
  })
})

describe('topics', () => {
  it('are refused with another partition count, and nothing is made then', async () => {
    const { catalogue, type } = newCatalogue('counted')
    const topic = acceptedTopic(type)
    await createTopics(kafka, { topic, numPartitions: 2 })
    await expect(provisionTopics(kafka, catalogue, 1)).rejects.toThrow(
      `because versions are positions in it: ${topic} has 2 instead of 4`,
    )
    expect(await kafka.withAdmin((admin) => admin.listTopics())).not.toContain(submittedTopic(type))
  })

  it('get their declared settings back, and keep what an operator set beside them', async () => {
    const { catalogue, type } = newCatalogue('settled')
    const topic = acceptedTopic(type)
    await provisionTopics(kafka, catalogue, 1)
    const configEntries = [
      { name: 'cleanup.policy', value: 'delete' },
      { name: 'segment.ms', value: '70000000' },
    ]
    await kafka.withAdmin((admin) =>
      admin.alterConfigs({ validateOnly: false, resources: [{ type: 2, name: topic, configEntries }] }),
    )
    // A broker hears of new settings a moment after they were taken.
    await eventually(async () => expect(await settingsOf(topic)).toMatchObject({ 'cleanup.policy': 'delete' }), 10_000)
    expect(await provisionTopics(kafka, catalogue, 1)).toMatchObject({ created: 0, altered: 1 })
    const wanted = { 'cleanup.policy': 'compact', 'segment.ms': '70000000' }
    await eventually(async () => expect(await settingsOf(topic)).toMatchObject(wanted), 10_000)
  })

  it('never depend on what the brokers do by default to keep what was acknowledged', async () => {
    const { catalogue, type } = newCatalogue('durable')
    await provisionTopics(kafka, catalogue, 1)
    const durable = { 'min.insync.replicas': '1', 'unclean.leader.election.enable': 'false' }
    for (const { name } of topicsOf(catalogue)) expect(await ownSettingsOf(name)).toMatchObject(durable)

    // As an earlier Weir left them: to the brokers. And with more copies asked for than the one broker can keep.
    const topic = submittedTopic(type)
    const configEntries = [{ name: 'min.insync.replicas', value: '2' }]
    await kafka.withAdmin((admin) =>
      admin.alterConfigs({ validateOnly: false, resources: [{ type: 2, name: topic, configEntries }] }),
    )
    await eventually(async () => expect(await ownSettingsOf(topic)).toEqual({ 'min.insync.replicas': '2' }), 10_000)
    expect(await provisionTopics(kafka, catalogue, 1)).toMatchObject({ created: 0, altered: 1 })
    await eventually(async () => expect(await ownSettingsOf(topic)).toMatchObject(durable), 10_000)
  })

  it('say what Kafka has against them', async () => {
    const { catalogue, type } = newCatalogue('copied')
    await expect(provisionTopics(kafka, catalogue, 99)).rejects.toThrow(
      new RegExp(`Kafka does not create weir\\.\\w+\\.${type}.* with 99 copies: `),
    )
  })
})
