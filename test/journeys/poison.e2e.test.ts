import { randomUUID } from 'node:crypto'
import { Kafka, logLevel } from 'kafkajs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createRegistry } from '#platform/registry.js'
import { acceptedSchema } from '#schemas/derive/avro.js'
import { course } from '#schemas/records/course.js'
import { shop } from '#schemas/records/shop.js'
import { tag } from '#schemas/records/tag.js'
import { eventually } from '../support/eventually.js'
import { sampleOf } from '../support/sample.js'
import { untilQuiet } from '../support/system/groups.js'
import { analyst, newOrganisation, system } from '../support/system/system.js'

const kafka = new Kafka({ brokers: system.env.KAFKA_BROKERS.split(','), logLevel: logLevel.NOTHING })
const stranger = kafka.producer()
beforeAll(() => stranger.connect())
afterAll(() => stranger.disconnect())

/** Writes to every partition, so that whoever comes after it comes after it everywhere. */
const writeTo = async (topic: string, value: Buffer) => {
  for (const partition of [0, 1, 2, 3])
    await stranger.send({ topic, messages: [{ partition, key: 'stranger', value }] })
}
const garbage = () => Buffer.from(`garbage ${randomUUID()}`)
/** The wire format, with a schema that the registry does not know. */
const orphaned = () => Buffer.concat([Buffer.from([0, 0x7f, 0xff, 0xff, 0xf0]), garbage()])
const broken = async (topic: string, schema: unknown) => {
  const encode = await createRegistry(system.env.SCHEMA_REGISTRY_URL).encoder<Record<string, unknown>>(
    `${topic}-value`,
    schema,
  )
  const event = { org_id: 'x', request_id: randomUUID(), batch_id: randomUUID(), accepted_at: 0, version: 0 }
  const whole = encode({
    ...event,
    tag_id: randomUUID(),
    course_id: randomUUID(),
    shop_id: randomUUID(),
    name: 'x',
    region: 'GB',
    is_public: null,
    created: null,
    updated: null,
    is_deleted: null,
  })
  return whole.subarray(0, whole.length - 3)
}

const setAside = (value: Buffer) =>
  eventually(async () => {
    const rows = await analyst.query(
      'select type, problems.code as codes from weir.rejections where record = {record:String}',
      {
        record: value.toString('base64'),
      },
    )
    expect(rows).toHaveLength(4)
    for (const row of rows) expect(row).toMatchObject({ codes: ['undecodable'] })
  })

it.each([
  ['garbage', garbage],
  ['a schema that nobody knows', orphaned],
  ["another topic's events", () => broken('weir.accepted.tags', acceptedSchema(tag))],
])('integrity sets %s aside and goes on', async (_, make) => {
  const org = await newOrganisation('poison')
  const value = await make()
  await writeTo('weir.submitted.shops', value)
  expect((await org.uploader.upload('shops', [sampleOf(shop)])).status).toBe(200)
  await setAside(value)
})

// Courses, because a downstream team of another journey reads the shops from the first one on.
it.each([
  ['garbage', garbage],
  ['a schema that nobody knows', orphaned],
  ["another topic's events", () => broken('weir.accepted.tags', acceptedSchema(tag))],
  ['an event that is cut off', () => broken('weir.accepted.courses', acceptedSchema(course))],
])('the sink sets %s aside and goes on', async (_, make) => {
  const org = await newOrganisation('poison')
  const value = await make()
  await writeTo('weir.accepted.courses', value)
  const record = sampleOf(course, { is_deleted: false })
  expect((await org.uploader.upload('courses', [record])).status).toBe(200)
  await eventually(async () => {
    const rows = await analyst.query('select 1 from weir.courses where course_id = {id:UUID}', { id: record.course_id })
    expect(rows).toHaveLength(1)
  })
  await setAside(value)
})

it('the sink passes over a message without a value, and goes on', async () => {
  const org = await newOrganisation('poison')
  const countSetAside = () =>
    analyst.query(`select count() as count from weir.rejections where has(problems.code, 'undecodable')`)
  const before = await countSetAside()
  const key = `${org.name}/${randomUUID()}`
  for (const partition of [0, 1, 2, 3])
    await stranger.send({ topic: 'weir.accepted.courses', messages: [{ partition, key, value: null }] })
  const record = sampleOf(course, { is_deleted: false })
  expect((await org.uploader.upload('courses', [record])).status).toBe(200)
  await eventually(async () => {
    const rows = await analyst.query('select 1 from weir.courses where course_id = {id:UUID}', { id: record.course_id })
    expect(rows).toHaveLength(1)
  })
  await untilQuiet(system.env.KAFKA_BROKERS)
  expect(await countSetAside()).toEqual(before)
})
