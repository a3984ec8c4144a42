import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { catalogue } from '#schemas/catalogue.js'
import { viewOf } from '#schemas/derive/names.js'
import type { RecordType } from '#schemas/record.js'
import { interaction } from '#schemas/records/interaction.js'
import { shop } from '#schemas/records/shop.js'
import { eventually } from '../support/eventually.js'
import { pidIn } from '../support/process-tree.js'
import { sampleOf } from '../support/sample.js'
import { membersOf } from '../support/system/groups.js'
import { startLinkedSystem } from '../support/system/linked-system.js'
import { readyzOf } from '../support/system/readiness.js'
import { analyst } from '../support/system/system.js'
import { createUploader, type UploadAnswer } from '../support/system/uploader.js'

// Parts that are truly away: nobody starts them again. Uploaders of this system wait for 3 s instead of 30.
const { system, links, stop } = await startLinkedSystem({ VERDICT_TIMEOUT_MS: '3000' })
afterAll(stop)
const { edgeUrl, env } = system
const uploader = createUploader(edgeUrl, system.demoKey)
const integrityUrl = `http://127.0.0.1:${env.INTEGRITY_PORT}`
const sinkUrl = `http://127.0.0.1:${env.SINK_PORT}`
const services = ['edge', 'integrity', 'sink']
const sessionTimeout = Number(process.env.KAFKA_SESSION_TIMEOUT_MS ?? 10_000)
const pids = () => services.map((name) => pidIn(system.dataDir, name))

const timesLogged = (service: string, text: string) =>
  readFileSync(join(system.dataDir, 'logs', `${service}.log`), 'utf8').split(text).length - 1

const newShop = () => sampleOf(shop, { is_deleted: false })
const isReady = () => eventually(async () => expect(await readyzOf(edgeUrl)).toMatchObject({ httpStatus: 200 }), 60_000)
const isInView = (type: RecordType, ids: unknown[]) =>
  eventually(async () => {
    const rows = await analyst.query<{ id: string }>(
      `select toString(${type.id}) as id from weir.${viewOf(type.type)} where has({ids:Array(String)}, toString(${type.id}))`,
      { ids },
    )
    expect(rows.map(({ id }) => id).sort()).toEqual([...ids].sort())
  })
/** Who the sink is to Kafka, once its predecessors that were killed are no longer in the groups. */
const members = () =>
  eventually(async () => {
    const found = await membersOf(env.KAFKA_BROKERS, ['weir-sink', 'weir-sink-interactions'])
    expect(found.map(({ length }) => length)).toEqual([1, 1])
    return found
  })

describe('while the registry is away', () => {
  const accepted = new Map<RecordType, string>()

  it('nothing stops: types that nobody has sent before, interactions, rows', async () => {
    await links.registry.cut()
    try {
      // In the catalogue's order: what is referred to comes first.
      for (const type of catalogue.uploads.values()) {
        const references = Object.entries(type.fields).flatMap(([name, field]) => {
          const to = field.kind === 'reference' ? catalogue.uploads.get(field.to) : undefined
          return to ? [[name, accepted.get(to)]] : []
        })
        const record = sampleOf(type, { ...Object.fromEntries(references), is_deleted: false })
        expect((await uploader.upload(type.type, [record])).status, type.type).toBe(200)
        accepted.set(type, String(record[type.id]))
      }
      const seen = sampleOf(interaction, { item_type: 'SHOP', item_id: accepted.get(shop), student_id: null })
      const { status, body } = await uploader.interact(seen)
      expect(status, JSON.stringify(body)).toBe(201)
      for (const [type, id] of accepted) await isInView(type, [id])
      await isInView(interaction, [body.interaction_id])

      expect(await readyzOf(edgeUrl)).toMatchObject({ httpStatus: 503, parts: { registry: { ok: false } } })
      expect(await readyzOf(edgeUrl, '?for=uploads')).toMatchObject({ httpStatus: 200 })
    } finally {
      await links.registry.mend()
    }
    await isReady()
  })

  it('a service that starts says what it waits for, and comes up once that is back', async () => {
    await links.registry.cut()
    try {
      for (const pid of pids()) process.kill(pid, 'SIGKILL')
      for (const url of [edgeUrl, integrityUrl, sinkUrl]) {
        await eventually(async () => {
          const { httpStatus, parts } = await readyzOf(url)
          expect([httpStatus, parts.registry]).toMatchObject([
            503,
            { ok: false, problem: expect.stringContaining('ECONNREFUSED') },
          ])
        })
      }
      const started = pids()
      const { status, headers } = await uploader.upload('shops', [newShop()])
      expect([status, headers.get('retry-after')]).toEqual([503, '5'])
      // Several tries later it is still the same processes that wait.
      for (const name of services)
        await eventually(() => expect(timesLogged(name, 'cannot start yet')).toBeGreaterThan(2), 60_000)
      expect(pids()).toEqual(started)
    } finally {
      await links.registry.mend()
    }
    await isReady()
    const record = newShop()
    expect((await uploader.upload('shops', [record])).status).toBe(200)
    await isInView(shop, [record.shop_id])
  })
})

describe('while Postgres is away', () => {
  const isDecided = (answer: UploadAnswer) =>
    eventually(async () => {
      const { body } = await uploader.get<UploadAnswer>(`/v1/requests/${answer.request_id}`)
      expect(body.batches).toMatchObject([{ status: 200, data: { status: 'success' } }])
    })

  it('uploads are answered in time, and go through once it is back', async () => {
    const [record, keyed] = [newShop(), newShop()]
    const key = { 'idempotency-key': randomUUID() }
    const before = pids()
    await links.postgres.cut()
    try {
      const answer = await uploader.upload('shops', [record])
      expect([500, 503]).toContain(answer.status)
      expect(answer.body.batches).toMatchObject([{ data: { error: expect.stringContaining('retrying is safe') } }])
      const refused = await uploader.upload('shops', [keyed], key)
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
      expect(refused.body).toMatchObject({
        // On a busy machine the upload before may have waited for so long that nothing more is taken in.
        message: expect.stringMatching(/the stored verdicts cannot be read at the moment|is still to be decided/),
      })

      const { httpStatus, parts } = await readyzOf(edgeUrl, '?for=uploads')
      expect(httpStatus).toBe(503)
      expect(parts.postgres).toMatchObject({ ok: false, problem: expect.stringContaining('ECONNREFUSED') })
      expect(parts.integrity).toMatchObject({ ok: false, problem: expect.stringContaining('postgres') })

      await links.postgres.mend()
      await isDecided(answer.body)
    } finally {
      await links.postgres.close()
      await links.postgres.mend()
    }
    await isReady()
    expect((await uploader.upload('shops', [keyed], key)).status).toBe(200)
    await isInView(shop, [record.shop_id, keyed.shop_id])
    expect(pids()).toEqual(before)
  })

  it('without a word, the services get over it by themselves', async () => {
    const [first, second] = [newShop(), newShop()]
    expect((await uploader.upload('shops', [first])).status).toBe(200)
    const before = pids()
    // Whoever waits on one of the connections that are open now waits for ever.
    links.postgres.lose()
    const answer = await uploader.upload('shops', [second])
    await isDecided(answer.body)
    await isReady()
    await isInView(shop, [first.shop_id, second.shop_id])
    expect(pids()).toEqual(before)
  })
})

describe('while ClickHouse is away', () => {
  it.each([
    ['refuses', links.clickhouse.cut, links.clickhouse.mend, 2_000],
    // Longer than a consumer may be silent.
    ['hangs', links.clickhouse.freeze, links.clickhouse.thaw, 2_000 + sessionTimeout],
  ])('and %s, uploads and interactions go on, and the sink catches up', async (_, leave, comeBack, forLong) => {
    const before = { pids: pids(), members: await members() }
    const item = newShop()
    const records = [item]
    const interactions: unknown[] = []
    await leave()
    try {
      const reading = uploader.get('/user-interactions?limit=1')
      expect((await uploader.upload('shops', [item])).status).toBe(200)
      for (const end = Date.now() + forLong; Date.now() < end; await wait(200)) {
        const record = newShop()
        expect((await uploader.upload('shops', [record])).status).toBe(200)
        records.push(record)
        const seen = sampleOf(interaction, { item_type: 'SHOP', item_id: item.shop_id, student_id: null })
        const { status, body } = await uploader.interact(seen)
        expect(status).toBe(201)
        interactions.push(body.interaction_id)
      }
      const { status, headers, body } = await reading
      expect([status, headers.get('retry-after'), body]).toEqual([
        503,
        '5',
        expect.objectContaining({ message: expect.stringContaining('interactions cannot be read at the moment') }),
      ])
      const { httpStatus, parts } = await readyzOf(edgeUrl)
      expect(httpStatus).toBe(503)
      expect(parts).toMatchObject({ clickhouse: { ok: false }, sink: { ok: false } })
      expect(parts.sink).toMatchObject({ problem: expect.stringContaining('clickhouse') })
      expect(await readyzOf(edgeUrl, '?for=uploads')).toMatchObject({ httpStatus: 200 })
    } finally {
      await comeBack()
    }
    await isInView(
      shop,
      records.map(({ shop_id }) => shop_id),
    )
    await isInView(interaction, interactions)
    await isReady()
    expect({ pids: pids(), members: await members() }).toEqual(before)
  })
})
