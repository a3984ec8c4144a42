import { randomUUID } from 'node:crypto'
import { Kafka, logLevel } from 'kafkajs'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { cancelWaits, findWaitsOfBatches } from '#ledger/waiting/look-up.js'
import { partitionOfLane } from '#platform/kafka/partitions.js'
import { createPool } from '#platform/postgres/postgres.js'
import { createRegistry } from '#platform/registry.js'
import { submittedSchema } from '#schemas/derive/avro.js'
import { subjectOf, submittedKey, submittedTopic } from '#schemas/derive/names.js'
import type { SubmittedBatch } from '#schemas/events.js'
import type { RecordType } from '#schemas/record.js'
import { branch } from '#schemas/records/branch.js'
import { offer } from '#schemas/records/offer.js'
import { shop } from '#schemas/records/shop.js'
import { batchOf } from '../support/batch.js'
import { eventually } from '../support/eventually.js'
import { sampleOf } from '../support/sample.js'
import { kill, pidOf } from '../support/system/processes.js'
import { analyst, newOrganisation, system } from '../support/system/system.js'

// Batches whose records may wait, written to the log as the edge writes them.

const kafka = new Kafka({ brokers: system.env.KAFKA_BROKERS.split(','), logLevel: logLevel.NOTHING })
const producer = kafka.producer()
const pool = createPool(system.env.POSTGRES_URL, pino({ level: 'silent' }), 2)
beforeAll(() => producer.connect())
afterAll(async () => {
  await producer.disconnect()
  await pool.end()
})

const registry = createRegistry(system.env.SCHEMA_REGISTRY_URL)
const partitionsOf = async (topic: string): Promise<number> => {
  const admin = kafka.admin()
  await admin.connect()
  const { topics } = await admin.fetchTopicMetadata({ topics: [topic] })
  await admin.disconnect()
  return topics[0]?.partitions.length ?? 1
}

const submit = async (
  org: string,
  type: RecordType,
  records: Record<string, unknown>[],
  over: Partial<SubmittedBatch> = {},
): Promise<SubmittedBatch> => {
  const topic = submittedTopic(type.type)
  const now = Date.now()
  const batch = batchOf(type, records, { org_id: org, submitted_at: now, wait_until: now + 600_000, ...over })
  const encode = await registry.encoder<SubmittedBatch>(subjectOf(topic), submittedSchema(type))
  const partition = partitionOfLane(org, 0, await partitionsOf(topic))
  await producer.send({ topic, acks: -1, messages: [{ partition, key: submittedKey(batch), value: encode(batch) }] })
  return batch
}

const statesOf = async (...batches: SubmittedBatch[]): Promise<string[]> => {
  const waits = await findWaitsOfBatches(
    pool,
    batches.map(({ batch_id }) => batch_id),
  )
  return waits.map(({ state }) => state)
}
const untilStates = (expected: string[], ...batches: SubmittedBatch[]): Promise<void> =>
  eventually(async () => expect((await statesOf(...batches)).sort()).toEqual(expected), 60_000)

const shown = (org: string, view: string, id: string): Promise<{ id: string }[]> =>
  analyst.query(`select toString(${id}) as id from weir.${view} where org_id = {org:String}`, { org })

it('accepts children that came before their parents, down a chain, each once, while integrity is killed', async () => {
  const { name: org, uploader } = await newOrganisation('waiting')
  const shops = Array.from({ length: 40 }, () => sampleOf(shop, { is_deleted: false }))
  const branches = shops.flatMap(({ shop_id }) =>
    Array.from({ length: 5 }, () => sampleOf(branch, { shop_id, is_deleted: false })),
  )
  const offers = shops.map(({ shop_id }) => sampleOf(offer, { shop_id, is_deleted: false }))
  const sent = [
    await submit(org, branch, branches.slice(0, 100)),
    await submit(org, branch, branches.slice(100)),
    await submit(org, offer, offers),
  ]
  await untilStates(Array(240).fill('waiting'), ...sent)

  for (let n = 0; n < shops.length; n += 10) {
    const killed = n % 20 === 0 ? kill('integrity') : undefined
    const { status, body } = await eventually(async () => {
      const answer = await uploader.upload('shops', shops.slice(n, n + 10), { 'idempotency-key': `${org}-${n}` })
      expect([200, 207]).toContain(answer.status)
      return answer
    })
    expect(status, JSON.stringify(body)).toBe(200)
    if (killed) await eventually(() => expect(pidOf('integrity')).not.toBe(killed), 60_000)
  }
  await untilStates(Array(240).fill('accepted'), ...sent)
  await eventually(async () => {
    const rows = await shown(org, 'branches', 'branch_id')
    expect(rows.map(({ id }) => id).sort()).toEqual(branches.map(({ branch_id }) => branch_id).sort())
  })
})

it('refuses what nobody came for at its time, lets a newer version win, and passes over what was cancelled', async () => {
  const { name: org, uploader } = await newOrganisation('waiting')
  const lonely = await submit(org, branch, [sampleOf(branch)], { wait_until: Date.now() + 4_000 })
  const old = sampleOf(branch, { name: 'old', is_deleted: false })
  const first = await submit(org, branch, [old])
  const newer = await submit(org, branch, [{ ...old, name: 'newer' }])
  const unwanted = sampleOf(branch)
  const cancelled = await submit(org, branch, [unwanted])
  await untilStates(['waiting'], cancelled)
  await untilStates(['superseded', 'waiting'], first, newer)
  expect(await cancelWaits(pool, { orgId: org, id: String(unwanted.branch_id) }, 10)).toBe(1)

  const parents = [old, unwanted].map(({ shop_id }) => sampleOf(shop, { shop_id }))
  expect((await uploader.upload('shops', parents)).status).toBe(200)
  await untilStates(['accepted', 'superseded'], first, newer)
  await untilStates(['refused'], lonely)
  expect(await statesOf(cancelled)).toEqual(['cancelled'])
  await eventually(async () => {
    const rows = await analyst.query(
      'select toString(branch_id) as id, name from weir.branches where org_id = {org:String}',
      { org },
    )
    expect(rows).toEqual([{ id: old.branch_id, name: 'newer' }])
    const rejections = await analyst.query<{ batch_id: string; codes: string[]; words: string[] }>(
      `select toString(batch_id) as batch_id, problems.code as codes, problems.message as words
      from weir.rejections where org_id = {org:String}`,
      { org },
    )
    expect(rejections).toMatchObject([{ batch_id: lonely.batch_id, codes: ['unknown_reference'] }])
    expect(rejections[0]?.words[0]).toContain('waited 4 seconds for it')
  })
})

it('tells each change of a waiting record on its topic', async () => {
  const { name: org, uploader } = await newOrganisation('waiting')
  const record = sampleOf(branch)
  const batch = await submit(org, branch, [record], { request_id: randomUUID() })
  await untilStates(['waiting'], batch)
  await uploader.upload('shops', [sampleOf(shop, { shop_id: record.shop_id })])
  await untilStates(['accepted'], batch)
  await eventually(async () => {
    const { rows } = await pool.query('select is_told from integrity.waiting where org_id = $1', [org])
    expect(rows).toEqual([{ is_told: true }])
  })
})
