import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { acceptedTopic, submittedTopic } from '#schemas/derive/names.js'
import { shop } from '#schemas/records/shop.js'
import { tag } from '#schemas/records/tag.js'
import { eventually } from '../support/eventually.js'
import { describeDeep } from '../support/it-deep.js'
import { signalTree } from '../support/process-tree.js'
import { sampleOf } from '../support/sample.js'
import { startService } from '../support/system/another-service.js'
import { keepUploading } from '../support/system/keep-uploading.js'
import { kill, pidOf } from '../support/system/processes.js'
import { readyzOf } from '../support/system/readiness.js'
import { analyst, newOrganisation, system } from '../support/system/system.js'
import { withTopicSetting } from '../support/system/topic-setting.js'
import { createUploader } from '../support/system/uploader.js'

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
const serviceLog = (name: string) => readFileSync(join(system.dataDir, 'logs', `${name}.log`), 'utf8')
type Journey = { steps?: { kind: string; topic?: string; offset?: number }[] }
const idsIn = async (view: string, id: string) => {
  const rows = await analyst.query<{ id: string }>(
    `select toString(${id}) as id from weir.${view} where org_id = {org:String}`,
    { org: org.name },
  )
  return rows.map((row) => row.id).sort()
}

describe('while Kafka hangs', () => {
  it('uploads are answered in time, nothing is lost, and all go on by themselves afterwards', async () => {
    const client = keepUploading(createUploader(edge.url, org.key))
    await eventually(() => expect(client.acknowledged.length).toBeGreaterThan(60))
    const [known] = client.acknowledged
    await eventually(async () => expect(await idsIn('shops', 'shop_id')).toContain(known), 60_000)
    const offsetInJourney = async () => {
      const { status, body } = await org.uploader.get<Journey>(`/v1/data/shops/${known}/journey`)
      const published = body.steps?.find(({ kind }) => kind === 'published')
      return { status, topic: published?.topic, offset: published?.offset }
    }
    kill('kafka', 'SIGSTOP')
    try {
      // Where an event lies on its topic only Kafka knows; the rest of its record's journey is told without it.
      expect(await offsetInJourney()).toEqual({ status: 200, topic: 'weir.accepted.shops', offset: undefined })
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
    await eventually(async () => expect((await offsetInJourney()).offset).toEqual(expect.any(Number)), 60_000)
    await eventually(
      async () => expect(await idsIn('shops', 'shop_id')).toEqual([...client.acknowledged].sort()),
      60_000,
    )
  })
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

describeDeep('a broker that refuses writes', () => {
  // Nothing is small enough. (Too few replicas in sync cannot be had with one broker: Kafka asks for no more than there are.)
  const nothing = { 'max.message.bytes': '1' }
  const brokers = system.env.KAFKA_BROKERS
  const uploader = () => createUploader(edge.url, org.key)
  const isInView = (record: Record<string, unknown>) =>
    eventually(async () => expect(await idsIn('tags', 'tag_id')).toContain(record.tag_id), 90_000)

  it('of submitted batches: the uploader is told at once, the log says why, and a retry goes through afterwards', async () => {
    const record = newTag()
    const key = { 'idempotency-key': randomUUID() }
    await withTopicSetting(brokers, submittedTopic('tags'), nothing, async () => {
      // A setting is told to the broker a moment after it is taken.
      await eventually(async () => {
        const { status, body } = await uploader().upload('tags', [newTag()])
        expect(status).toBe(500)
        expect(body.batches).toMatchObject([{ data: { message: 'the batch may not have been submitted' } }])
      })
      expect((await uploader().upload('tags', [record], key)).status).toBe(500)
      expect(await idsIn('tags', 'tag_id')).not.toContain(record.tag_id)
      // Seen by operators; a load balancer would take away what still goes.
      const { parts } = await readyzOf(edge.url)
      expect(parts.kafka).toMatchObject({
        ok: false,
        problem: expect.stringMatching(/did not take .* max message size/),
      })
      expect((await readyzOf(edge.url, '?for=uploads')).parts.kafka).toEqual({ ok: true })
    })
    const line = edge.logged().findLast(({ msg }) => msg === 'batches not published')
    expect(JSON.stringify(line)).toContain('max message size')
    await eventually(async () => expect((await uploader().upload('tags', [record], key)).status).toBe(200), 60_000)
    await isInView(record)
  })

  it('of accepted events: what was decided is published when that is over, and other types go on meanwhile', async () => {
    const record = newTag()
    const before = pidOf('integrity')
    await withTopicSetting(brokers, acceptedTopic('tags'), nothing, async () => {
      // Decided and told; its events cannot follow.
      expect((await uploader().upload('tags', [record])).status).toBe(200)
      await eventually(() => expect(serviceLog('integrity')).toContain(`for ${acceptedTopic('tags')}/`))
      expect((await org.uploader.upload('shops', [sampleOf(shop, { is_deleted: false })])).status).toBe(200)
      await eventually(async () => {
        const { parts } = await readyzOf(system.edgeUrl)
        expect(parts.integrity).toMatchObject({ problem: expect.stringContaining('are not decided or published') })
        expect((await readyzOf(system.edgeUrl, '?for=uploads')).parts.integrity).toEqual({ ok: true })
      })
      expect(await idsIn('tags', 'tag_id')).not.toContain(record.tag_id)
    })
    await isInView(record)
    await isReady()
    expect(pidOf('integrity')).toBe(before)
  })
})
