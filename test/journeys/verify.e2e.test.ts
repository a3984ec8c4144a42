import { randomUUID } from 'node:crypto'
import { Kafka, logLevel } from 'kafkajs'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { partitionOf } from '#platform/kafka/partitions.js'
import { createPool } from '#platform/postgres/postgres.js'
import { readConfig } from '#platform/process/config.js'
import { createRegistry } from '#platform/registry.js'
import { catalogue } from '#schemas/catalogue.js'
import { acceptedSchema, submittedSchema } from '#schemas/derive/avro.js'
import { submittedKey } from '#schemas/derive/names.js'
import type { AcceptedEvent, SubmittedBatch } from '#schemas/events.js'
import { tag } from '#schemas/records/tag.js'
import { versionOf } from '#schemas/version.js'
import { withParts } from '../../services/operator/command/servers.js'
import { configSchema } from '../../services/operator/config.js'
import { verify as verifyParts } from '../../services/operator/verify/verify.js'
import { batchOf, refusalOf } from '../support/batch.js'
import { eventually } from '../support/eventually.js'
import { itDeep } from '../support/it-deep.js'
import { runWeir } from '../support/run-weir.js'
import { sampleOf } from '../support/sample.js'
import { sized } from '../support/sized.js'
import { untilQuiet } from '../support/system/groups.js'
import { analyst, newOrganisation, system } from '../support/system/system.js'
import { watchTopics } from '../support/system/topics.js'

// Damage of each kind is done by hand, to the tags of one organisation, and undone again: what were left of it, the next test would
// find among the differences.
const patiently = { timeout: 300_000 }
const org = await newOrganisation('verify')
const began = new Date().toISOString()
const accepted = 'weir.accepted.tags'
const day = 86_400_000
const registry = createRegistry(system.env.SCHEMA_REGISTRY_URL)
const stranger = new Kafka({ brokers: system.env.KAFKA_BROKERS.split(','), logLevel: logLevel.NOTHING }).producer()
const pool = createPool(system.env.POSTGRES_URL, pino({ level: 'silent' }), 2)
beforeAll(() => stranger.connect())
afterAll(async () => {
  await stranger.disconnect()
  await pool.end()
})

type Report = {
  is_clean: boolean
  types: { type: string; differences: Record<string, number>; [figure: string]: unknown }[]
  differences: { kind: string; type: string; where: string; found: string }[]
  mended: { events: number; rejections: number; lost: string[] } | null
}

const weir = (...words: string[]) => runWeir(['verify', ...words], system.env)

const verify = async (...words: string[]): Promise<Report & { exitCode: number | undefined }> => {
  const ours = ['--org', org.name, '--since', began, '--type', 'tags', '--json', ...words]
  const { stdout, stderr, exitCode } = await weir(...ours)
  if (exitCode === 2) throw new Error(stderr)
  return { ...(JSON.parse(stdout) as Report), exitCode }
}

/** Once nothing is on its way any more: then nothing may be found to be. */
const atRest = () => untilQuiet(system.env.KAFKA_BROKERS)
const verifyAtRest = async (...words: string[]) => {
  await atRest()
  const report = await verify(...words)
  expect(report.types[0]).toMatchObject({ waiting: 0, in_flight: 0 })
  return report
}

const kindsOf = ({ differences }: Report) => differences.map(({ kind }) => kind).sort()

const upload = async (...records: Record<string, unknown>[]) => {
  const { body } = await org.uploader.upload('tags', records)
  return String(body.batches[0]?.data.batch_id)
}
const produce = (key: string, value: Buffer) => stranger.send({ topic: accepted, messages: [{ key, value }] })
const watch = async () => {
  const { since } = await watchTopics(system.env.KAFKA_BROKERS)
  return async () => (await since()).filter(({ topic, key }) => topic === accepted && key.startsWith(`${org.name}/`))
}

const first = sampleOf(tag, { name: 'first', is_deleted: false })

it('finds nothing where nothing is wrong', patiently, async () => {
  await upload(first, sampleOf(tag), { tag_id: randomUUID() })
  await upload({ ...first, name: 'second' })
  const report = await verifyAtRest()
  expect(report).toMatchObject({ is_clean: true, exitCode: 0, differences: [], mended: null })
  expect(report.types).toMatchObject([
    { type: 'tags', batches: 2, records: 4, accepted: 3, on_topic: 3, refused: 1, on_rejected: 1, keys: 2, rows: 2 },
  ])
})

it('finds an old event that came after a newer one, and publishes the newest again', patiently, async () => {
  const written = await watch()
  const record = sampleOf(tag, { name: 'old' })
  await upload(record)
  await upload({ ...record, name: 'new' })
  await atRest()
  const [old, newest] = await written()
  if (!old || !newest) throw new Error('the events are not on the topic')
  await produce(old.key, old.value)

  const found = await verifyAtRest()
  expect(found).toMatchObject({ is_clean: false, exitCode: 1 })
  expect(found.differences).toMatchObject([
    { kind: 'event_turned_back', type: 'tags', where: expect.stringContaining(`${org.name}/${record.tag_id}`) },
  ])
  // Without --type it reads every topic.
  const { stdout } = await weir('--org', org.name, '--since', began)
  expect(stdout).toMatch(/event_turned_back \(1\)/)
  expect(stdout).toContain('weir verify --mend publishes the newest one again')

  const after = await watch()
  expect(await verify('--mend')).toMatchObject({ is_clean: true, exitCode: 0, mended: { events: 1, lost: [] } })
  const [mended, ...others] = await after()
  expect(others).toEqual([])
  expect(mended?.key).toBe(newest.key)
  expect(mended?.value.equals(newest.value)).toBe(true)
})

it.each(sized(['tags_log'], ['tags_log', 'tags_current']))(
  'finds a row that is gone from %s, and says what brings it back',
  patiently,
  async (table) => {
    const written = await watch()
    const record = sampleOf(tag)
    await upload(record)
    await atRest()
    await analyst.command(
      `alter table weir.${table} delete where tag_id = '${record.tag_id}' settings mutations_sync = 2`,
    )
    const found = await verifyAtRest()
    expect(found).toMatchObject({ exitCode: 1, types: [{ differences: { row_missing: 1 } }] })
    expect(found.differences[0]?.where).toContain(record.tag_id)
    expect((await weir('--org', org.name, '--since', began, '--type', 'tags')).stdout).toContain(
      'weir rebuild analytics',
    )

    // Told again, the sink writes it again.
    const [event] = await written()
    if (event) await produce(event.key, event.value)
  },
)

itDeep('finds rejections that are gone from ClickHouse', patiently, async () => {
  const batch = await upload({ tag_id: randomUUID() }, { tag_id: 'no' })
  await atRest()
  await analyst.command(
    `create table weir.kept engine = Memory as select * from weir.rejections_log where batch_id = '${batch}'`,
  )
  await analyst.command(
    `alter table weir.rejections_log delete where batch_id = '${batch}' settings mutations_sync = 2`,
  )
  const found = await verifyAtRest()
  expect(found.differences).toMatchObject([
    { kind: 'rejection_row_missing', where: `batch ${batch}`, found: '0 of 2 rejections' },
  ])
  await analyst.command('insert into weir.rejections_log select * from weir.kept')
  await analyst.command('drop table weir.kept')
})

itDeep('finds a verdict that is gone, unless it was pruned', patiently, async () => {
  const batch = await upload(sampleOf(tag))
  await atRest()
  const { rows } = await pool.query<{ kept: string }>(
    'delete from integrity.verdicts v where batch_id = $1 returning row_to_json(v)::text as kept',
    [batch],
  )
  expect(await verifyAtRest()).toMatchObject({
    exitCode: 1,
    differences: [{ kind: 'verdict_missing', where: expect.stringContaining(batch) }],
  })
  const markPruned = (moment: Date | null) =>
    pool.query(`update integrity.cursors set pruned_before = $1 where topic = 'weir.submitted.tags'`, [moment])
  await markPruned(new Date())
  expect(await verifyAtRest()).toMatchObject({ exitCode: 0, types: [{ verdicts_no_longer_kept: 1 }] })
  await markPruned(null)
  await pool.query('insert into integrity.verdicts select * from json_populate_record(null::integrity.verdicts, $1)', [
    rows[0]?.kept,
  ])
})

it('publishes what a decided batch never got told, older than what is there or not', patiently, async () => {
  const record = sampleOf(tag, { name: 'never told' })
  const batch = batchOf(tag, [record, sampleOf(tag)], { org_id: org.name, refusals: [refusalOf(2, 'x')] })
  // A verdict that names another place: integrity takes the batch for a repeat, and tells its verdict only.
  await pool.query(
    `insert into integrity.verdicts values ($1, $2, $3, 'tags', 1, 1, 0, $4, 2, $5, '{}', now(), 'weir.submitted.tags', $6, -1)`,
    [
      batch.batch_id,
      org.name,
      batch.request_id,
      batch.body_sha256,
      JSON.stringify([{ index: 2, id: 'x', problems: refusalOf(2).problems }]),
      partitionOf(org.name, 4),
    ],
  )
  const encode = await registry.encoder<SubmittedBatch>('weir.submitted.tags-value', submittedSchema(tag))
  const [sent] = await stranger.send({
    topic: 'weir.submitted.tags',
    messages: [{ key: submittedKey(batch), partition: partitionOf(org.name, 4), value: encode(batch) }],
  })
  const newer = await watch()
  await upload({ ...record, name: 'newest' })
  await pool.query('update integrity.verdicts set submitted_offset = $2 where batch_id = $1', [
    batch.batch_id,
    sent?.baseOffset,
  ])

  const found = await verifyAtRest()
  expect(found).toMatchObject({ exitCode: 1, types: [{ differences: { event_missing: 2, rejection_missing: 1 } }] })
  // In eight days the one that has a newer event may have been compacted away; the other one may not.
  const operator = { config: readConfig(configSchema, system.env), log: pino({ level: 'silent' }) }
  const later = await withParts(operator, ['pool', 'kafka', 'registry', 'clickhouse'], (parts) =>
    verifyParts({
      ...parts,
      ...{ catalogue, types: [tag], org: org.name, mostExamples: 5, mends: false },
      ...{ range: { since: Date.parse(began), until: undefined }, now: Date.now() + 8 * day },
      progress: () => ({ advance: () => {}, end: () => {} }),
    }),
  )
  expect(later.counts).toMatchObject([{ compacted: 1 }])
  expect(later.differences.total('event_missing')).toBe(1)

  const mended = await verify('--mend')
  // The two that were missing, and after them the newest event of the one that has a newer one.
  expect(mended).toMatchObject({ exitCode: 0, mended: { events: 3, rejections: 1, lost: [] } })
  const events = (await newer()).filter(({ key }) => key.endsWith(String(record.tag_id)))
  expect(events).toHaveLength(3)
  expect(events[2]?.value.equals(events[0]?.value ?? Buffer.alloc(0))).toBe(true)
  await eventually(async () => {
    const rows = await analyst.query('select name from weir.tags where tag_id = {id:UUID}', { id: record.tag_id })
    expect(rows).toEqual([{ name: 'newest' }])
  })
})

itDeep('finds nothing once all damage is undone', patiently, async () => {
  expect(await verifyAtRest()).toMatchObject({ is_clean: true, exitCode: 0, differences: [] })
})

itDeep('finds an accepted event of a record that was refused', patiently, async () => {
  const id = randomUUID()
  const batch = await upload(sampleOf(tag), { tag_id: id })
  await atRest()
  const { rows } = await pool.query<{ submitted_offset: number; request_id: string }>(
    'select submitted_offset, request_id from integrity.verdicts where batch_id = $1',
    [batch],
  )
  const encode = await registry.encoder<AcceptedEvent>(`${accepted}-value`, acceptedSchema(tag))
  const event = {
    org_id: org.name,
    request_id: rows[0]?.request_id ?? '',
    batch_id: batch,
    accepted_at: Date.now(),
    version: versionOf(rows[0]?.submitted_offset ?? 0, 1),
    ...{ tag_id: id, name: 'forged', created: null, updated: null, is_deleted: null },
  }
  await produce(`${org.name}/${id}`, encode(event))
  const found = await verifyAtRest()
  expect(kindsOf(found)).toEqual(['event_unfounded'])
  expect(found.differences[0]?.where).toContain(id)
  // Nothing that was published again could undo it: a newer version does.
  expect(await verify('--mend')).toMatchObject({ exitCode: 1, mended: { events: 0, rejections: 0 } })
  await upload(sampleOf(tag, { tag_id: id, is_deleted: true }))
  await eventually(async () => {
    expect(await analyst.query('select 1 from weir.tags where tag_id = {id:UUID}', { id })).toEqual([])
  })
})

it('says that it cannot tell, with an exit code of its own', patiently, async () => {
  for (const words of [
    ['--since', 'yesterday'],
    ['--type', 'tag'],
    ['--since', '1h', '--until', '2h'],
  ]) {
    const { exitCode, stderr } = await weir(...words)
    expect(exitCode).toBe(2)
    expect(stderr).toContain('it cannot be said')
  }
})
