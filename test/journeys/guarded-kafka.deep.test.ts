import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { packageRoot } from '#platform/process/package-root.js'
import { consumersOf } from '#schemas/derive/topic-reference/consumers.js'
import { customer } from '#schemas/records/customer.js'
import { offer } from '#schemas/records/offer.js'
import { shop } from '#schemas/records/shop.js'
import { freePorts } from '../../deploy/embedded/servers/ports.js'
import { type ConsumerLanguage, openConsumers } from '../support/consumers.js'
import { eventually } from '../support/eventually.js'
import { createFreshDatabase } from '../support/fresh-database.js'
import { type GuardedKafka, passwordOf, startGuardedKafka, type User } from '../support/guarded-kafka.js'
import { sampleOf } from '../support/sample.js'
import { startService } from '../support/system/another-service.js'
import { analyst, system } from '../support/system/system.js'
import { createUploader } from '../support/system/uploader.js'

// All of Weir on a Kafka as companies run it: over TLS, each service with a login of its own and only the rights that
// deploy/kafka-acls.sh gives it. The other parts are the shared system's; Postgres with a database of its own.
let kafka: GuardedKafka
let database: Awaited<ReturnType<typeof createFreshDatabase>>
const closing: (() => Promise<unknown>)[] = []
let edgeUrl = ''
const org = `guarded-${randomUUID().slice(0, 8)}`

const variablesOf = (user: User) => ({ ...kafka.variablesOf(user), POSTGRES_URL: database.url })
const weir = async (...words: string[]): Promise<string> => {
  const env = { ...system.env, ...variablesOf('weir-operator') }
  return (await execa(process.execPath, ['dist/services/operator/main.js', ...words], { env })).stdout
}

beforeAll(async () => {
  kafka = await startGuardedKafka()
  closing.push(kafka.stop)
  database = await createFreshDatabase(system.env.POSTGRES_URL)
  closing.push(database.drop)
  await weir('provision')
  const sink = await startService('sink', variablesOf('weir-sink'))
  closing.push(sink.stop)
  const integrity = await startService('integrity', variablesOf('weir-integrity'))
  closing.push(integrity.stop)
  const delivery = await startService('delivery', variablesOf('weir-delivery'))
  closing.push(delivery.stop)
  const PEERS = `integrity=${integrity.url},sink=${sink.url}`
  const edge = await startService('edge', { ...variablesOf('weir-edge'), PEERS })
  closing.push(edge.stop)
  edgeUrl = edge.url
})
afterAll(async () => {
  for (const close of closing.reverse()) await close()
})

it('records come from the uploader to the analyst, and the operator finds nothing amiss', async () => {
  const { key } = JSON.parse(await weir('keys', 'issue', '--org', org, '--json'))
  const { upload, interact, get } = createUploader(edgeUrl, key)
  const shopId = randomUUID()
  expect((await upload('shops', [sampleOf(shop, { shop_id: shopId, is_deleted: false })])).status).toBe(200)
  const offers = [sampleOf(offer, { shop_id: shopId, is_deleted: false }), sampleOf(offer)]
  expect((await upload('offers', offers)).status).toBe(207)
  const seen = { interaction_type: 'PAGE_VIEW', item_type: 'SHOP', item_id: shopId, platform: 'WEB' }
  expect((await interact({ ...seen, event_timestamp: new Date().toISOString() })).status).toBe(201)

  const count = async (view: string) => {
    const rows = await analyst.query<{ n: number }>(
      `select toUInt32(count()) as n from weir.${view} where org_id = {org:String}`,
      { org },
    )
    return rows[0]?.n
  }
  for (const view of ['shops', 'offers', 'rejections', 'interactions'])
    await eventually(async () => expect(await count(view), view).toBe(1))
  await eventually(async () => {
    const { body } = await get<{ steps: { kind: string; offset?: number }[] }>(`/v1/data/shops/${shopId}/journey`)
    expect(body.steps.find(({ kind }) => kind === 'published')?.offset).toEqual(expect.any(Number))
  })
  await eventually(async () =>
    expect(JSON.parse(await weir('verify', '--org', org, '--json'))).toMatchObject({ is_clean: true }),
  )
  const { body: feed } = await get<{ events: { id: string }[]; next: string }>('/v1/feeds?types=shops,interactions')
  expect(feed.events.map(({ id }) => id)).toContain(shopId)
  expect((await get(`/v1/feeds/shops?after=${new Date(Date.now() - 60_000).toISOString()}`)).body).toMatchObject({
    events: [{ id: shopId }],
  })
})

it('a person is forgotten', async () => {
  const { key } = JSON.parse(await weir('keys', 'issue', '--org', org, '--json'))
  const { upload, send, get } = createUploader(edgeUrl, key)
  const [ann, bob] = [sampleOf(customer), sampleOf(customer)]
  expect((await upload('customers', [ann, bob])).status).toBe(200)
  const body = JSON.stringify({ person_id: ann.customer_id, mode: 'erase' })
  const asked = await send<{ erasure_id: string }>('POST', '/v1/erasures', body)
  expect(asked.status).toBe(202)
  await eventually(async () => {
    const erasure = await get(`/v1/erasures/${asked.body.erasure_id}`)
    expect(erasure.body).toMatchObject({ status: 'done', problem: null })
  }, 180_000)
  expect((await get(`/v1/persons/${ann.customer_id}/export`)).status).toBe(404)
  expect((await get(`/v1/persons/${bob.customer_id}/export`)).status).toBe(200)
}, 240_000)

describe('a downstream team gets in with the settings that its page names', () => {
  let consumers: Awaited<ReturnType<typeof openConsumers>>
  beforeAll(async () => {
    consumers = await openConsumers()
  })
  afterAll(() => rm(consumers.folder, { recursive: true, force: true }))

  it.for(['typescript', 'python', 'java'] as const)('from %s', async (language, { skip }) => {
    const text = guardedConsumer(language).replace('my-team', `weir-sink-${language}`)
    const ended = await consumers.runUntil(language, text, [`${org}/`])
    if ('whyNot' in ended) return skip(ended.whyNot)
    expect(ended.isWell, ended.printed).toBe(true)
  })
})

it('whoever Kafka does not let in says what to change', async () => {
  const wrong = { KAFKA_PASSWORD: 'wrong' }
  const line = /refuses the login \(.*\): check KAFKA_SASL_MECHANISM and the credentials beside it/
  const operator = await execa(process.execPath, ['dist/services/operator/main.js', 'verify'], {
    env: { ...system.env, ...variablesOf('weir-operator'), ...wrong },
    reject: false,
  })
  expect(operator.stderr).toMatch(line)
  expect(operator.stderr.trim().split('\n')).toHaveLength(1)

  const [port = 0] = await freePorts(1)
  const sink = execa(process.execPath, ['dist/services/sink/main.js'], {
    env: { ...system.env, ...variablesOf('weir-sink'), ...wrong, SINK_PORT: String(port) },
    reject: false,
  })
  onTestFinished(async () => {
    sink.kill('SIGTERM')
    await sink
  })
  await eventually(async () => {
    const { parts } = (await (await fetch(`http://127.0.0.1:${port}/readyz`)).json()) as {
      parts: Record<string, { problem?: string }>
    }
    expect(parts.kafka?.problem).toMatch(line)
  })
})

/** The consumer that is shown for the shops, with what docs/for-downstream-teams.md says that TLS and a login need. */
function guardedConsumer(language: ConsumerLanguage): string {
  const [username, password] = ['weir-sink', passwordOf('weir-sink')]
  const addresses = { brokers: kafka.brokers, registry: system.env.SCHEMA_REGISTRY_URL }
  const consumers = consumersOf({ topic: 'weir.accepted.shops', event: 'ShopsEvent', addresses })
  if (language === 'typescript') {
    const known = `import { readFileSync } from 'node:fs'\nconst [username, password] = ['${username}', '${password}']\n`
    return known + consumers.typescript.replace('brokers: [', `${settingsOf('kafkajs')}, brokers: [`)
  }
  if (language === 'python') {
    const known = `username, password = '${username}', '${password}'\n`
    return (
      known + consumers.python.replace("'bootstrap.servers'", `${settingsOf('confluent-kafka')}, 'bootstrap.servers'`)
    )
  }
  const pairs = settingsOf('Java').map((setting) => {
    const [, name = '', value = ''] = /^([^=]+)=(.*)$/.exec(setting) ?? []
    const known = value
      .replace('username="…"', `username="${username}"`)
      .replace('password="…"', `password="${password}"`)
    return `${JSON.stringify(name)}, ${JSON.stringify(known)}, `
  })
  return consumers.java.replace('"bootstrap.servers"', `${pairs.join('')}"bootstrap.servers"`)
}

/** What the page's table says of a client, with the authority's file of this test. */
function settingsOf(client: string): string[] {
  const page = readFileSync(join(packageRoot, 'docs/for-downstream-teams.md'), 'utf8')
  const row = page.split('\n').find((line) => line.startsWith(`| ${client} |`)) ?? ''
  return [...row.matchAll(/`([^`]+)`/g)].map(([, setting = '']) => setting.replace('ca.pem', kafka.caFile))
}
