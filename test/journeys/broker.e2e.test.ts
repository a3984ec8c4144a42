import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { acceptedTopic, submittedTopic } from '#schemas/derive/names.js'
import { tag } from '#schemas/records/tag.js'
import { startService } from '../support/another-service.js'
import { eventually } from '../support/eventually.js'
import { keepUploading } from '../support/keep-uploading.js'
import { kill, pidOf, signalTree } from '../support/processes.js'
import { readyzOf } from '../support/readiness.js'
import { sampleOf } from '../support/sample.js'
import { analyst, newOrganisation, system } from '../support/system.js'
import { withTopicSetting } from '../support/topic-setting.js'
import { createUploader } from '../support/uploader.js'

// An edge of its own, so that nobody has to wait for the usual half a minute.
let edge: Awaited<ReturnType<typeof startService>>
beforeAll(async () => {
  edge = await startService('edge', { VERDICT_TIMEOUT_MS: '3000' })
})
afterAll(() => edge.stop())

const org = await newOrganisation('broker')
const newTag = () => sampleOf(tag, { is_deleted: false })
const isReady = () =>
  eventually(async () => expect(await readyzOf(system.edgeUrl)).toMatchObject({ httpStatus: 200 }), 90_000)
const idsIn = async (view: string, id: string) => {
  const rows = await analyst.query<{ id: string }>(
    `select toString(${id}) as id from weir.${view} where org_id = {org:String}`,
    { org: org.name },
  )
  return rows.map((row) => row.id).sort()
}

describe('while Kafka hangs', () => {
  it('uploads are answered in time, nothing is lost, and all go on by themselves afterwards', async () => {
    const processes = ['edge', 'integrity', 'sink', 'kafka']
    const before = processes.map(pidOf)
    const client = keepUploading(createUploader(edge.url, org.key))
    await eventually(() => expect(client.acknowledged.length).toBeGreaterThan(60))
    kill('kafka', 'SIGSTOP')
    try {
      await eventually(() => expect(client.failures.length).toBeGreaterThan(2), 60_000)
      // Longer than Kafka waits for a consumer, and a consumer for Kafka.
      await eventually(async () => {
        const { httpStatus, parts } = await readyzOf(system.edgeUrl, '?for=uploads')
        expect([httpStatus, parts.kafka]).toMatchObject([503, { ok: false, problem: expect.stringContaining('Kafka') }])
      })
    } finally {
      kill('kafka', 'SIGCONT')
    }
    const reached = client.acknowledged.length
    await eventually(() => expect(client.acknowledged.length).toBeGreaterThan(reached + 60), 90_000)
    await client.stop()
    await isReady()
    await eventually(
      async () => expect(await idsIn('shops', 'shop_id')).toEqual([...client.acknowledged].sort()),
      60_000,
    )
    expect(processes.map(pidOf)).toEqual(before)
  }, 240_000)
})

describe('while Postgres hangs', () => {
  it('an upload waits, and goes through when it is back in time', async () => {
    const record = newTag()
    const before = ['edge', 'integrity'].map(pidOf)
    expect((await org.uploader.upload('tags', [newTag()])).status).toBe(200)
    const postgres = pidOf('postgres')
    signalTree(postgres, 'SIGSTOP')
    const answer = org.uploader.upload('tags', [record])
    try {
      await eventually(async () => {
        const { parts } = await readyzOf(system.edgeUrl, '?for=uploads')
        expect(parts).toMatchObject({ postgres: { ok: false }, integrity: { ok: false } })
        expect(parts.integrity).toMatchObject({ problem: expect.stringContaining('postgres') })
      })
    } finally {
      signalTree(postgres, 'SIGCONT')
    }
    expect((await answer).status).toBe(200)
    await isReady()
    expect(['edge', 'integrity'].map(pidOf)).toEqual(before)
  })
})

describe('a broker that refuses writes', () => {
  const tooFewReplicas = { 'min.insync.replicas': '2' }
  const upload = (record: unknown, key: string) =>
    createUploader(edge.url, org.key).upload('tags', [record], { 'idempotency-key': key })

  it('of submitted batches: they are not acknowledged, and a retry goes through afterwards', async () => {
    const record = newTag()
    const key = randomUUID()
    await withTopicSetting(system.env.KAFKA_BROKERS, submittedTopic('tags'), tooFewReplicas, async () => {
      const { status, body } = await upload(record, key)
      expect([500, 503]).toContain(status)
      expect(body.batches).toMatchObject([{ data: { error: expect.stringContaining('retrying is safe') } }])
    })
    await eventually(async () => expect((await upload(record, key)).status).toBe(200), 60_000)
    await eventually(async () => expect(await idsIn('tags', 'tag_id')).toContain(record.tag_id), 60_000)
  })

  it('of accepted events: what was decided is published when that is over', async () => {
    const record = newTag()
    await withTopicSetting(system.env.KAFKA_BROKERS, acceptedTopic('tags'), tooFewReplicas, async () => {
      // Decided and told; the events follow.
      await eventually(async () => expect((await upload(record, String(record.tag_id))).status).toBe(200), 60_000)
    })
    await eventually(async () => expect(await idsIn('tags', 'tag_id')).toContain(record.tag_id), 60_000)
    await isReady()
  })

  it('that are too large for it: the uploader is told at once, and the log says why', async () => {
    const record = sampleOf(tag, { name: randomUUID().repeat(100) })
    const setting = { 'max.message.bytes': '1000' }
    await withTopicSetting(system.env.KAFKA_BROKERS, submittedTopic('tags'), setting, async () => {
      const { status, body } = await upload(record, randomUUID())
      expect(status).toBe(500)
      expect(body.batches).toMatchObject([{ data: { message: 'the batch may not have been submitted' } }])
    })
    const line = edge.logged().findLast(({ msg }) => msg === 'batches not published')
    expect(JSON.stringify(line)).toContain('larger than the max message size')
    expect((await upload(newTag(), randomUUID())).status).toBe(200)
  })
})
