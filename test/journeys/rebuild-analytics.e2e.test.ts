import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { createKafka } from '#platform/kafka/kafka.js'
import { partitionOf } from '#platform/kafka/partitions.js'
import { createRegistry } from '#platform/registry.js'
import { waitingSchema } from '#schemas/derive/avro.js'
import { entityKey, subjectOf, waitingTopic } from '#schemas/derive/names.js'
import { partitionsOf, usualLayout } from '#schemas/derive/topics.js'
import type { WaitingEvent } from '#schemas/events.js'
import { shop } from '#schemas/records/shop.js'
import { tag } from '#schemas/records/tag.js'
import { eventually } from '../support/eventually.js'
import { itDeep } from '../support/it-deep.js'
import { runWeir } from '../support/run-weir.js'
import { sampleOf } from '../support/sample.js'
import { sized } from '../support/sized.js'
import { analyst, newOrganisation, type Organisation, operate, system } from '../support/system/system.js'

type Rebuilt = { type: string; events: number; rows_before: number; rows_after: number }

const idsOf = async (org: Organisation): Promise<string[]> => {
  const query = 'select toString(shop_id) as id from weir.shops where org_id = {org:String}'
  return (await analyst.query<{ id: string }>(query, { org: org.name })).map(({ id }) => id).sort()
}

/** Does one thing over and over until it is stopped, without keeping a core busy. */
const keepDoing = (work: () => Promise<void>) => {
  let isStopped = false
  const done = (async () => {
    while (!isStopped) {
      await work()
      await wait(sized(50, 0))
    }
  })()
  return () => {
    isStopped = true
    return done
  }
}

it('never shows analysts fewer rows than before, and loses nothing that is uploaded meanwhile', async () => {
  const org = await newOrganisation('analytics')
  const acknowledged: string[] = []
  const counts: number[] = []
  const stopUploads = keepDoing(async () => {
    const records = Array.from({ length: 20 }, () => sampleOf(shop, { is_deleted: false }))
    if ((await org.uploader.upload('shops', records)).status === 200)
      acknowledged.push(...records.map(({ shop_id }) => String(shop_id)))
  })
  const stopCounts = keepDoing(async () => {
    const query = 'select toUInt32(count()) as rows from weir.shops where org_id = {org:String}'
    counts.push(...(await analyst.query<{ rows: number }>(query, { org: org.name })).map(({ rows }) => rows))
  })
  try {
    for (let times = 0; times < 2; times++) {
      const before = acknowledged.length
      await eventually(() => expect(acknowledged.length).toBeGreaterThan(before + 40), 60_000)
      await operate<Rebuilt[]>(['rebuild', 'analytics', '--type', 'shops'])
    }
  } finally {
    await stopUploads()
    await stopCounts()
  }
  await eventually(async () => expect(await idsOf(org)).toEqual([...acknowledged].sort()), 60_000)
  expect(counts.at(-1)).toBeGreaterThan(0)
  expect(counts).toEqual([...counts].sort((a, b) => a - b))
})

it('makes a damaged table right: emptied, with an alien in it, and with rows that stand there twice', async () => {
  const org = await newOrganisation('analytics-damaged')
  const records = Array.from({ length: 50 }, () => sampleOf(tag, { is_deleted: false }))
  expect((await org.uploader.upload('tags', records)).status).toBe(200)
  const ids = records.map(({ tag_id }) => String(tag_id)).sort()
  const seen = async (from: string) => {
    const query = `select toString(tag_id) as id from ${from} where org_id = {org:String} order by id`
    return (await analyst.query<{ id: string }>(query, { org: org.name })).map(({ id }) => id).sort()
  }
  await eventually(async () => expect(await seen('weir.tags')).toEqual(ids))

  for (const table of ['weir.tags_log', 'weir.tags_current']) await analyst.command(`truncate table ${table}`)
  const alien = randomUUID()
  for (const name of ['alien', 'alien'])
    await analyst.command(
      `insert into weir.tags_log (org_id, tag_id, name, version) values ('${org.name}', '${alien}', '${name}', 1)`,
    )
  expect(await seen('weir.tags')).toEqual([alien])
  const [rebuilt] = await operate<Rebuilt[]>(['rebuild', 'analytics', '--type', 'tags'])
  expect(rebuilt?.rows_after).toBeGreaterThanOrEqual(50)
  expect(await seen('weir.tags')).toEqual(ids)
  for (const table of ['weir.tags_log', 'weir.tags_current']) expect(await seen(table)).toEqual(ids)
})

itDeep('makes the table of what waits anew: what still waits, and what no longer does', async () => {
  const org = await newOrganisation('analytics-waiting')
  const kafka = createKafka({ brokers: system.env.KAFKA_BROKERS, clientId: 'waiting', log: pino({ level: 'silent' }) })
  const registry = createRegistry(system.env.SCHEMA_REGISTRY_URL)
  const encode = await registry.encoder<WaitingEvent>(subjectOf(waitingTopic), waitingSchema())
  const producer = await kafka.createProducer()
  const now = Date.now()
  const begun = (): WaitingEvent => ({
    ...{ org_id: org.name, request_id: randomUUID(), batch_id: randomUUID(), version: 1, type: 'offers', index: 0 },
    ...{ id: randomUUID(), state: 'waiting', missing: [{ field: 'shop_id', type: 'shops', id: randomUUID() }] },
    ...{ since: now, until: now + 86_400_000, changed_at: now },
  })
  const [waits, ended] = [begun(), begun()]
  // As integrity tells it.
  for (const event of [waits, ended, { ...ended, version: 2, state: 'accepted' as const }]) {
    const key = entityKey(org.name, event.id)
    const partition = partitionOf(key, partitionsOf(usualLayout, waitingTopic))
    await producer.send(waitingTopic, partition, [{ key, value: encode(event) }])
  }
  await producer.close()
  const shown = (from: string) =>
    analyst.query(`select toString(id) as id, state from ${from} where org_id = {org:String} order by state`, {
      org: org.name,
    })
  const all = [
    { id: ended.id, state: 'accepted' },
    { id: waits.id, state: 'waiting' },
  ]
  await eventually(async () => expect(await shown('weir.waiting_log final')).toEqual(all), 60_000)
  const waiting = `select toString(id) as id from weir.waiting where org_id = {org:String}`
  expect(await analyst.query(waiting, { org: org.name })).toEqual([{ id: waits.id }])

  await analyst.command('truncate table weir.waiting_log')
  const [rebuilt] = await operate<Rebuilt[]>(['rebuild', 'analytics', '--type', 'waiting'])
  expect(rebuilt?.rows_after).toBeGreaterThanOrEqual(1)
  expect(await shown('weir.waiting_log final')).toEqual(all)
  expect(await analyst.query(waiting, { org: org.name })).toEqual([{ id: waits.id }])
})

itDeep('makes all tables anew when none is named, and shows a table that fits the terminal', async () => {
  const { stdout, exitCode, stderr } = await runWeir(['rebuild', 'analytics'], system.env)
  expect(exitCode, stderr).toBe(0)
  const lines = stdout.split('\n')
  expect(lines[0]).toMatch(/^TYPE +EVENTS +SKIPPED +CARRIED +ROWS BEFORE +AFTER +TOOK$/)
  expect(lines).toHaveLength(18)
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(80)
})

it('is refused for a type that is not there', async () => {
  const { stderr, exitCode } = await runWeir(['rebuild', 'analytics', '--type', 'shop'], system.env)
  expect([exitCode, stderr]).toEqual([1, 'weir: there is no type "shop": did you mean shops?'])
})
