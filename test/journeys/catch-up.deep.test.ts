import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, expect, it } from 'vitest'
import { shop } from '#schemas/records/shop.js'
import { eventually } from '../support/eventually.js'
import { pidIn } from '../support/process-tree.js'
import { sampleOf } from '../support/sample.js'
import { membersOf, untilQuiet } from '../support/system/groups.js'
import { startLinkedSystem } from '../support/system/linked-system.js'
import { analyst } from '../support/system/system.js'
import { createUploader } from '../support/system/uploader.js'

// Records that repeat themselves pile up while a part is away: Kafka packs them to a fiftieth and less.
const { system, links, stop } = await startLinkedSystem({
  VERDICT_TIMEOUT_MS: '3000',
  RATE_RECORDS_PER_SECOND: '0',
  MAX_BATCHES_IN_FLIGHT: '100000',
  MAX_BYTES_IN_FLIGHT: '536870912',
  RATE_BYTES_PER_SECOND: '0',
  MAX_RECORDS_IN_FLIGHT: '100000000',
  MAX_LAG_MS: '600000',
  // The group must not lose a member to its work; to a machine that is busy with something else it may.
  KAFKA_SESSION_TIMEOUT_MS: '30000',
})
afterAll(stop)
const { env } = system
const uploader = createUploader(system.edgeUrl, system.demoKey)
const groups = ['weir-integrity', 'weir-sink']
const mostMegabytes = 512

/** The most memory that a service has had so far. */
const peakOf = (service: string): number => {
  const status = readFileSync(`/proc/${pidIn(system.dataDir, service)}/status`, 'utf8')
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024
}
const pids = () => ['integrity', 'sink'].map((name) => pidIn(system.dataDir, name))

const smallTags = () => {
  const tag = { tag_id: randomUUID(), name: 'a' }
  return Array.from({ length: 5000 }, () => tag)
}
const longTags = () => {
  const tag = { tag_id: randomUUID(), name: 'x'.repeat(4096) }
  return Array.from({ length: 3500 }, () => tag)
}
const rowsOf = async (table: string): Promise<number> => {
  const [row] = await analyst.query<{ rows: number }>(`select toFloat64(count()) as rows from weir.${table}`)
  return row?.rows ?? 0
}

it('within 512 MB each, integrity and sink catch up on what piled up, and others are served meanwhile', async () => {
  const record = sampleOf(shop, { is_deleted: false })
  await eventually(async () => expect((await uploader.upload('shops', [record])).status).toBe(200))
  await untilQuiet(env.KAFKA_BROKERS)
  const before = { pids: pids(), members: await membersOf(env.KAFKA_BROKERS, groups) }
  await links.clickhouse.cut()
  await links.postgres.cut()
  const uploads = [...Array<typeof smallTags>(60).fill(smallTags), ...Array<typeof smallTags>(20).fill(longTags)]
  for (let n = 0; n < uploads.length; n += 10) {
    await Promise.all(uploads.slice(n, n + 10).map((tags) => pileUp(tags())))
  }

  // Of another type, and so of another partition.
  await links.postgres.mend()
  await eventually(async () => expect((await uploader.upload('shops', [record])).status).toBe(200), 20_000)
  const statuses: number[] = []
  await untilDecided(() => uploader.upload('shops', [record]).then(({ status }) => statuses.push(status)))
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(statuses.length * 0.8)
  expect(peakOf('integrity')).toBeLessThan(mostMegabytes)

  const shopsBefore = await rowsOf('shops_log')
  await links.clickhouse.mend()
  await eventually(async () => expect(await rowsOf('shops_log')).toBeGreaterThan(shopsBefore), 20_000)
  await untilQuiet(env.KAFKA_BROKERS, 120_000)
  expect(peakOf('sink')).toBeLessThan(mostMegabytes)
  expect({ pids: pids(), members: await membersOf(env.KAFKA_BROKERS, groups) }).toEqual(before)
})

/** Uploads what nobody decides now, so that its outcome is unknown; an edge that has no room on a busy machine says to come back. */
const pileUp = async (tags: object[]): Promise<void> => {
  for (;;) {
    const { status, headers } = await uploader.uploadGzipped('tags', tags)
    if (status === 500) return
    expect([status, headers.get('retry-after')]).toEqual([503, '5'])
    await new Promise((resolve) => setTimeout(resolve, 1_000))
  }
}

/** Does something once a second until integrity has decided everything. */
const untilDecided = async (meanwhile: () => Promise<unknown>): Promise<void> => {
  const lag = async () => {
    const text = await (await fetch(`http://127.0.0.1:${env.INTEGRITY_PORT}/metrics`)).text()
    const lags = [...text.matchAll(/^weir_integrity_consumer_lag\{topic="weir.submitted.tags".*\} (\d+)$/gm)]
    return lags.reduce((sum, [, value]) => sum + Number(value), 0)
  }
  await eventually(async () => expect(await lag()).toBeGreaterThan(0), 20_000)
  for (const end = Date.now() + 180_000; (await lag()) > 0 && Date.now() < end; ) {
    await meanwhile()
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
  expect(await lag()).toBe(0)
}
