import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { shop } from '#schemas/records/shop.js'
import { tag } from '#schemas/records/tag.js'
import { kafkaPart } from '../../deploy/embedded/servers/kafka.js'
import { freePorts } from '../../deploy/embedded/servers/ports.js'
import { superviseProcess } from '../../deploy/embedded/supervision/supervisor.js'
import { eventually } from '../support/eventually.js'
import { createFreshDatabase } from '../support/fresh-database.js'
import { type Link, openLink } from '../support/link.js'
import { runWeir } from '../support/run-weir.js'
import { sampleOf } from '../support/sample.js'
import { isDeep } from '../support/sized.js'
import { startService } from '../support/system/another-service.js'
import { analyst, system } from '../support/system/system.js'
import { createUploader, type Uploader } from '../support/system/uploader.js'

// Two edges, one of which reaches Kafka by a link that a test can freeze. Registry and ClickHouse are the shared system's.
const org = `old-send-${randomUUID().slice(0, 8)}`
const answerWithin = 4_000
const closing: (() => Promise<unknown>)[] = []
let link: Link
let far: Uploader
let near: Uploader
let farEdge: { url: string; pid: number }

beforeAll(async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'weir-old-send-'))
  closing.push(() => rm(dataDir, { recursive: true, force: true }))
  const [port = 0, behind = 0] = await freePorts(2)
  link = await openLink({ host: '127.0.0.1', port: behind })
  closing.push(link.close)
  const definition = kafkaPart({ dataDir, port, behind: { port: behind, advertisedPort: link.port } })
  const kafka = superviseProcess(definition, { dataDir, report: (line) => process.stderr.write(`${line}\n`) })
  await kafka.start()
  closing.push(kafka.stop)
  const database = await createFreshDatabase(system.env.POSTGRES_URL)
  closing.push(database.drop)
  const env = {
    KAFKA_BROKERS: `127.0.0.1:${port}`,
    POSTGRES_URL: database.url,
    RATE_RECORDS_PER_SECOND: '0',
    RATE_BYTES_PER_SECOND: '0',
  }
  const weir = (...words: string[]) => runWeir(words, { ...system.env, ...env })
  expect((await weir('provision')).exitCode).toBe(0)
  const { key } = JSON.parse((await weir('keys', 'issue', '--org', org, '--json')).stdout)
  for (const name of ['sink', 'integrity'] as const) closing.push((await startService(name, env)).stop)
  const nearEdge = await startService('edge', env)
  closing.push(nearEdge.stop)
  const timeout = String(answerWithin)
  const stale = await startService('edge', {
    ...env,
    KAFKA_BROKERS: `127.0.0.1:${link.port}`,
    VERDICT_TIMEOUT_MS: timeout,
  })
  closing.push(stale.stop)
  farEdge = stale
  near = createUploader(nearEdge.url, key)
  far = createUploader(stale.url, key)
  for (const each of [near, far])
    await eventually(async () => expect((await each.upload('shops', [sampleOf(shop)])).status).toBe(200), 60_000)
})
afterAll(async () => {
  for (const close of closing.reverse()) await close()
})

const historyOf = async (shopId: string): Promise<string[]> => {
  const rows = await analyst.query<{ name: string }>(
    'select name from weir.shops_history where org_id = {org:String} and shop_id = {shopId:UUID} order by version',
    { org, shopId },
  )
  return rows.map(({ name }) => name)
}

it('an upload that was answered "unknown" never overwrites what came after it, however late its link heals', async () => {
  const shopId = randomUUID()
  const version = (name: string) => [sampleOf(shop, { shop_id: shopId, name, is_deleted: false })]
  link.freeze()
  expect((await far.upload('shops', version('old'))).status).toBe(500)
  expect((await near.upload('shops', version('old'))).status).toBe(200)
  expect((await near.upload('shops', version('new'))).status).toBe(200)
  link.thaw()
  // The same edge goes on: whatever its old connections held would be there before this.
  await eventually(async () => expect((await far.upload('shops', version('newest'))).status).toBe(200), 60_000)
  await delay(2_000)
  expect((await near.upload('shops', version('last'))).status).toBe(200)
  await eventually(async () => expect(await historyOf(shopId)).toEqual(['old', 'new', 'newest', 'last']), 30_000)
})

const staysSmall = async () => {
  const body = JSON.stringify({ records: Array.from({ length: 5000 }, () => sampleOf(tag)) })
  const statuses = new Set<number>()
  link.freeze()
  const end = performance.now() + 3 * answerWithin
  await Promise.all(
    Array.from({ length: 100 }, async () => {
      while (performance.now() < end) {
        const { status } = await far.send('POST', '/v1/data/tags', body)
        statuses.add(status)
        await delay(500)
      }
    }),
  )
  link.thaw()
  expect([...statuses].sort()).toEqual([500, 503])
  const peak = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${farEdge.pid}/status`, 'utf8'))?.[1]
  expect(Number(peak) / 1024).toBeLessThan(400)
  await eventually(async () => expect((await far.upload('shops', [sampleOf(shop)])).status).toBe(200), 60_000)
  const figures = await (await fetch(`${farEdge.url}/metrics`)).text()
  expect(figures).toMatch(/^weir_edge_bytes_in_flight 0$/m)
  expect(figures).toMatch(/^weir_edge_batches_in_flight 0$/m)
}

// What an edge may hold is also shown by test/journeys/limits.e2e.test.ts, in every run.
if (isDeep)
  it(
    'while Kafka hangs an edge stays within 400 MB, tells everybody to come back, and holds nothing afterwards',
    staysSmall,
  )
