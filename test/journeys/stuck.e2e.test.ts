import { setTimeout as wait } from 'node:timers/promises'
import { pino } from 'pino'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { createPool } from '#platform/postgres/postgres.js'
import { viewOf } from '#schemas/derive/names.js'
import type { RecordType } from '#schemas/record.js'
import { interaction } from '#schemas/records/interaction.js'
import { shop } from '#schemas/records/shop.js'
import { tag } from '#schemas/records/tag.js'
import { eventually } from '../support/eventually.js'
import { itDeep } from '../support/it-deep.js'
import { sampleOf } from '../support/sample.js'
import { membersOf } from '../support/system/groups.js'
import { readyzOf } from '../support/system/readiness.js'
import { analyst, newOrganisation, system } from '../support/system/system.js'

// One table or one partition that cannot go on: everything else goes on beside it.
const { uploader } = await newOrganisation('stuck')
const pool = createPool(system.env.POSTGRES_URL, pino({ level: 'silent' }), 2)
afterAll(() => pool.end())

const isInView = (type: RecordType, id: unknown, within: number) =>
  eventually(async () => {
    const rows = await analyst.query(
      `select 1 from weir.${viewOf(type.type)} where toString(${type.id}) = {id:String}`,
      { id },
    )
    expect(rows).toHaveLength(1)
  }, within)
const upload = async (type: RecordType, record = sampleOf(type, { is_deleted: false })) => {
  const { status } = await uploader.upload(type.type, [record])
  return { status, id: record[type.id] }
}
const membersOfSink = () => membersOf(system.env.KAFKA_BROKERS, ['weir-sink', 'weir-sink-interactions'])

it('a table that takes no rows keeps no other table waiting, and is filled when it takes them again', async () => {
  await upload(shop)
  const members = await membersOfSink()
  await analyst.command('alter table weir.tags_log add constraint stuck check tag_id is null')
  const mend = () => analyst.command('alter table weir.tags_log drop constraint if exists stuck')
  onTestFinished(mend)
  const { status, id: stuckId } = await upload(tag)
  expect(status).toBe(200)
  await eventually(async () => {
    const { parts } = await readyzOf(`http://127.0.0.1:${system.env.SINK_PORT}`)
    expect(parts.inserts).toMatchObject({
      ok: false,
      problem: expect.stringMatching(/^rows of weir\.accepted\.tags\/\d cannot be inserted: /),
    })
  })
  for (let n = 0; n < 10; n++) {
    const { id } = await upload(shop)
    await isInView(shop, id, 10_000)
  }
  await mend()
  await isInView(tag, stuckId, 15_000)
  expect(await membersOfSink()).toEqual(members)
})

itDeep('a partition whose batches cannot be decided keeps no other partition waiting', async () => {
  await upload(tag)
  await upload(shop)
  const connection = await pool.connect()
  try {
    await connection.query('begin')
    await connection.query(`select from integrity.cursors where topic = 'weir.submitted.tags' for update`)
    const stuck = upload(tag)
    // Postgres ends the wait for a lock after 15 s, and integrity says that this partition stands still; it tries again.
    const isFailing = async () => {
      const { parts } = await readyzOf(`http://127.0.0.1:${system.env.INTEGRITY_PORT}`)
      return parts.decisions?.ok === false
    }
    // The others are answered all the while, before that and after.
    let after = 0
    while (after < 5) {
      expect((await upload(shop)).status).toBe(200)
      if (await isFailing()) after += 1
    }
    await connection.query('rollback')
    await isInView(tag, (await stuck).id, 60_000)
  } finally {
    await connection.query('rollback')
    connection.release()
  }
})

it('interactions go around a partition whose batches cannot be decided', async () => {
  const { id } = await upload(shop)
  const record = async () => {
    const given = sampleOf(interaction, { item_type: 'SHOP', item_id: String(id), student_id: null })
    return (await uploader.interact(given)).status
  }
  expect(await record()).toBe(201)
  const connection = await pool.connect()
  try {
    await connection.query('begin')
    await connection.query(
      `select from integrity.cursors where topic = 'weir.submitted.interactions' order by partition limit 1 for update`,
    )
    // One at a time, so that each is a batch of its own: until one has come to the partition that is held.
    let stuck: Promise<number> | undefined
    while (!stuck) {
      const answer = record()
      if ((await Promise.race([answer, wait(5_000)])) === undefined) stuck = answer
    }
    // Those without a key have no order among each other: each of these would wait as well, one time in four.
    for (let n = 0; n < 40; n++) expect(await record()).toBe(201)
    await connection.query('rollback')
    expect([201, 500]).toContain(await stuck)
  } finally {
    await connection.query('rollback')
    connection.release()
  }
})
