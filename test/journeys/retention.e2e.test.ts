import { pino } from 'pino'
import { afterAll, expect, it } from 'vitest'
import { ifFirst } from '#persons/remove/if-first.js'
import { removeOld } from '#persons/retention/apply.js'
import { createClickHouse } from '#platform/clickhouse.js'
import { createKafka } from '#platform/kafka/kafka.js'
import { readTopics, stretchesOf } from '#platform/kafka/read-topics.js'
import { createPool } from '#platform/postgres/postgres.js'
import { createRegistry } from '#platform/registry.js'
import { catalogue } from '#schemas/catalogue.js'
import { interaction } from '#schemas/records/interaction.js'
import { shop } from '#schemas/records/shop.js'
import { transaction } from '#schemas/records/transaction.js'
import { eventually } from '../support/eventually.js'
import { runWeir } from '../support/run-weir.js'
import { sampleOf } from '../support/sample.js'
import { untilQuiet } from '../support/system/groups.js'
import { analyst, newOrganisation, system } from '../support/system/system.js'

// What is too old goes from topics and tables; what has a younger version stays, with its history, and so does what others have.

const log = pino({ level: 'silent' })
const pool = createPool(system.env.POSTGRES_URL, log, 4)
const kafka = createKafka({ brokers: system.env.KAFKA_BROKERS, clientId: 'retention-test', log })
const clickhouse = createClickHouse(system.env.CLICKHOUSE_URL, {})
const over = new AbortController()
afterAll(async () => {
  over.abort()
  await clickhouse.close()
  await pool.end()
})

const required = { onlyRequired: true }
const weir = async (...words: string[]) => {
  const { exitCode, stdout, stderr } = await runWeir([...words, '--json'], system.env)
  expect(exitCode, stderr).toBe(0)
  return JSON.parse(stdout)
}
const countIn = async (table: string, org: string): Promise<number> => {
  const rows = await analyst.query<{ count: string }>(
    `select count() as count from weir.${table} where org_id = {org:String}`,
    { org },
  )
  return Number(rows[0]?.count)
}
/** How many keys of an organisation have a value in each topic: compaction may have taken the older one of two. */
const messagesOf = async (org: string): Promise<Record<string, number>> => {
  const topics = ['weir.submitted.shops', 'weir.accepted.shops', 'weir.rejected', 'weir.submitted.interactions']
  const found = new Map([...topics, 'weir.interactions'].map((topic) => [topic, new Set<string>()]))
  await readTopics(kafka, await stretchesOf(kafka, [...found.keys()]), async ({ topic, messages }) => {
    for (const { key, value } of messages) if (value !== null && key?.startsWith(`${org}/`)) found.get(topic)?.add(key)
  })
  return Object.fromEntries([...found].map(([topic, keys]) => [topic, keys.size]))
}

it('removes what is too old everywhere, and nothing else', async () => {
  const [{ name: org, uploader }, other] = [await newOrganisation('retention'), await newOrganisation('kept')]
  const [old, changed, young] = [sampleOf(shop), sampleOf(shop), sampleOf(shop)]
  const touch = { item_type: 'SHOP', item_id: changed.shop_id }
  const interact = () => uploader.interact(sampleOf(interaction, touch, required))
  for (const each of [uploader, other.uploader]) await each.upload('shops', [old, changed, { ...old, shop_id: 7 }])
  expect((await interact()).status).toBe(201)
  await untilQuiet(system.env.KAFKA_BROKERS)
  const producer = await kafka.createProducer()
  // What no Weir has written is nobody's, and keeps nothing from being removed.
  await producer.send('weir.submitted.shops', 0, [{ key: 'stranger', value: Buffer.from('no Avro') }])
  const moment = Date.now()
  await uploader.upload('shops', [{ ...changed, name: 'newer' }, young, { ...old, shop_id: 8 }])
  expect((await interact()).status).toBe(201)
  await untilQuiet(system.env.KAFKA_BROKERS)

  const registry = createRegistry(system.env.SCHEMA_REGISTRY_URL)
  const deps = { pool, kafka, registry, clickhouse, producer, catalogue, place: {}, signal: over.signal, log }
  const cutoffs = [shop, catalogue.interaction].map((type) => ({
    type,
    byOrg: new Map([[org, moment]]),
    others: undefined,
  }))
  // A person may be forgotten at this moment, by another test.
  const done = await eventually(async () => {
    const result = await ifFirst(pool, () => removeOld(deps, cutoffs))
    expect(result).toBeDefined()
    return result
  }, 120_000)
  await producer.close()
  expect(done).toMatchObject({ isAll: true, notYet: new Set() })
  expect(done?.removed).toEqual(
    expect.arrayContaining([
      { where: 'weir.accepted.shops', count: 1 },
      { where: 'weir.submitted.shops', count: 1 },
      { where: 'weir.shops_log', count: 1 },
      { where: 'weir.interactions', count: 1 },
    ]),
  )

  // Of the shop that was changed its former version is history.
  expect(
    await Promise.all(['shops', 'shops_log', 'rejections', 'interactions'].map((each) => countIn(each, org))),
  ).toEqual([2, 3, 1, 1])
  expect(await countIn('shops_log', other.name)).toBe(2)
  expect(await messagesOf(org)).toEqual({
    ...{ 'weir.submitted.shops': 1, 'weir.accepted.shops': 2, 'weir.rejected': 1 },
    ...{ 'weir.submitted.interactions': 1, 'weir.interactions': 1 },
  })
  expect(await messagesOf(other.name)).toMatchObject({ 'weir.submitted.shops': 1, 'weir.accepted.shops': 2 })

  // What was removed is not there for others to refer to, until it comes again.
  const refer = async (shopId: unknown) => {
    const { body } = await uploader.upload('transactions', [sampleOf(transaction, { shop_id: shopId }, required)])
    return body.batches[0]?.data.errors ?? []
  }
  expect(await refer(changed.shop_id)).toEqual([])
  expect(await refer(old.shop_id)).toMatchObject([{ problems: [{ code: 'unknown_reference' }] }])
  await uploader.upload('shops', [old])
  expect(await refer(old.shop_id)).toEqual([])
  const verified = await weir('verify', '--org', org, '--since', '1h')
  expect(verified.differences).toEqual([])
}, 300_000)

it('is said by rules, which can be tried before', async () => {
  const { name: org, uploader } = await newOrganisation('rules')
  await uploader.upload('shops', [sampleOf(shop)])
  const rule = ['--type', 'shops', '--org', org]
  expect(await weir('retention', 'set', ...rule, '--keep', '7y', '--dry-run')).toEqual({
    ...{ type: 'shops', org, keep: '7y', found: [] },
  })
  await weir('retention', 'set', ...rule, '--keep', '7y', '--yes')
  // The service looks by itself, and finds nothing that is so old; where somebody is being forgotten, it waits for that.
  await eventually(async () => {
    const { rows } = await pool.query('select problem from erasure.retention_runs where ended_at is not null')
    expect(rows).toEqual([{ problem: null }])
  }, 180_000)
  const { rules, last_run } = await weir('retention', 'list')
  expect(rules).toContainEqual({ type: 'shops', org, keep: '7y' })
  expect(last_run).toMatchObject({ ended_at: expect.any(String), problem: null })
  expect(await weir('retention', 'drop', ...rule)).toMatchObject({ dropped: true })
  const refused = await runWeir(['retention', 'set', ...rule, '--keep', '7 years', '--yes'], system.env)
  expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining('such as 30d, 18mo or 7y')])
}, 120_000)
