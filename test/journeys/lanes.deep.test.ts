import { execa } from 'execa'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createClickHouse } from '#platform/clickhouse.js'
import { shop } from '#schemas/records/shop.js'
import { tag } from '#schemas/records/tag.js'
import { answersHttp, freePorts } from '../../deploy/embedded/servers/ports.js'
import { eventually } from '../support/eventually.js'
import { sampleOf } from '../support/sample.js'
import { membersOf } from '../support/system/groups.js'
import { createUploader, type Uploader } from '../support/system/uploader.js'
import { startWholeSystem, type WholeSystem } from '../support/system/whole-system.js'

// A system of its own, whose organisations have four lanes, and further integrity instances that come and go.

let system: WholeSystem
let stop: () => Promise<void>
let uploader: Uploader
const extra: Awaited<ReturnType<typeof startIntegrity>>[] = []

beforeAll(async () => {
  ;({ system, stop } = await startWholeSystem({ env: { LANES: '4' } }))
  uploader = createUploader(system.edgeUrl, system.demoKey)
})
afterAll(async () => {
  for (const { end } of extra) await end()
  await stop?.()
})

const startIntegrity = async () => {
  const [port = 0] = await freePorts(1)
  const service = execa(process.execPath, ['dist/services/integrity/main.js'], {
    env: { ...system.env, INTEGRITY_PORT: String(port) },
    reject: false,
    forceKillAfterDelay: false,
  })
  const url = `http://127.0.0.1:${port}`
  await eventually(async () => expect(await answersHttp(`${url}/readyz`)).toBe(true), 60_000)
  const end = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<void> => {
    service.kill(signal)
    await service
  }
  return { url, end }
}

const untilMembers = (count: number): Promise<void> =>
  eventually(async () => {
    const [members] = await membersOf(system.env.KAFKA_BROKERS, ['weir-integrity'])
    expect(members).toHaveLength(count)
  })

/** How many batches of each type an instance has decided, by its own figures. */
const decidedBy = async (url: string): Promise<Map<string, number>> => {
  const text = await (await fetch(`${url}/metrics`)).text()
  const lines = text.matchAll(/^weir_integrity_batches_total\{type="([^"]+)",kind="decided"\} (\d+)$/gm)
  return new Map([...lines].map(([, type = '', count]) => [type, Number(count)]))
}
/** How many each of them has decided since, once that many were: an instance counts after it has published. */
const sharesOf = (
  urls: string[],
  before: ReadonlyMap<string, number>[],
  type: string,
  all: number,
): Promise<number[]> =>
  eventually(async () => {
    const now = await Promise.all(urls.map(decidedBy))
    const shares = now.map((decided, i) => (decided.get(type) ?? 0) - (before[i]?.get(type) ?? 0))
    expect(shares.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(all)
    return shares
  })
const ownUrl = () => `http://127.0.0.1:${system.env.INTEGRITY_PORT}`

const accepted = async (type: string, records: Record<string, unknown>[]): Promise<void> => {
  const { status, body } = await uploader.upload(type, records)
  expect(status, JSON.stringify(body)).toBe(200)
}
const shops = (count: number, over: Record<string, unknown> = {}) =>
  Array.from({ length: count }, () => sampleOf(shop, { is_deleted: false, ...over }))

it('cuts a request by lane, numbers the batches, and names refused records by their index in the request', async () => {
  const records = shops(40).map((record, n) => (n % 7 === 0 ? { ...record, region: 'Great Britain' } : record))
  const { status, body } = await uploader.upload('shops', records)
  expect(status).toBe(207)
  expect(body.batches.map(({ batch }) => batch)).toEqual([1, 2, 3, 4])
  const refused = body.batches.flatMap(({ data }) => data.errors ?? []).sort((a, b) => a.index - b.index)
  const wanted = records.flatMap((record, index) => (index % 7 === 0 ? [{ index, id: record.shop_id }] : []))
  expect(refused.map(({ index, id }) => ({ index, id }))).toEqual(wanted)
})

it('lets four instances decide the batches of one organisation, and two share all of its types', async () => {
  extra.push(await startIntegrity())
  await untilMembers(2)
  const two = [ownUrl(), ...extra.map(({ url }) => url)]
  const ofTwo = await Promise.all(two.map(decidedBy))
  for (let n = 0; n < 5; n++) {
    await accepted('shops', shops(60))
    await accepted(
      'tags',
      Array.from({ length: 60 }, () => sampleOf(tag)),
    )
  }
  for (const type of ['shops', 'tags'])
    for (const share of await sharesOf(two, ofTwo, type, 20)) expect(share, type).toBeGreaterThanOrEqual(0.15 * 20)

  extra.push(await startIntegrity(), await startIntegrity())
  await untilMembers(4)
  const urls = [ownUrl(), ...extra.map(({ url }) => url)]
  const before = await Promise.all(urls.map(decidedBy))
  for (let n = 0; n < 10; n++) await accepted('shops', shops(60))
  const shares = await sharesOf(urls, before, 'shops', 40)
  for (const share of shares) expect(share, String(shares)).toBeGreaterThanOrEqual(0.15 * 40)
})

it('loses nothing and keeps the order of each record while instances come and go under load', async () => {
  const ids = shops(12).map(({ shop_id }) => String(shop_id))
  let revision = 0
  let isOver = false
  const writing = (async () => {
    // The same records again and again, each request only when the one before it was answered.
    while (!isOver || revision < 20) {
      const name = `revision ${String(revision).padStart(5, '0')}`
      const records = ids.flatMap((shop_id) => [
        sampleOf(shop, { shop_id, name: `${name}, first`, is_deleted: false }),
        sampleOf(shop, { shop_id, name: `${name}, second`, is_deleted: false }),
      ])
      const key = { 'idempotency-key': `lanes-${revision}` }
      const { status } = await uploader.upload('shops', records, key)
      if (status === 200) revision++
    }
  })()
  await extra.pop()?.end('SIGKILL')
  await extra.pop()?.end()
  extra.push(await startIntegrity())
  await untilMembers(3)
  await extra.shift()?.end()
  extra.push(await startIntegrity())
  await untilMembers(3)
  isOver = true
  await writing

  const analyst = createClickHouse(system.env.CLICKHOUSE_URL)
  try {
    const last = `revision ${String(revision - 1).padStart(5, '0')}, second`
    await eventually(async () => {
      const rows = await analyst.query<{ id: string; name: string }>(
        `select toString(shop_id) as id, name from weir.shops where toString(shop_id) in ({ids:Array(String)})`,
        { ids },
      )
      expect(rows.map(({ id, name }) => `${id} ${name}`).sort()).toEqual(ids.map((id) => `${id} ${last}`).sort())
    })
    // By version, each record's names grow: no write was overtaken by an earlier one.
    const histories = await analyst.query<{ names: string[] }>(
      `select arrayMap(x -> x.2, arraySort(groupArray((version, name)))) as names from weir.shops_history
       where toString(shop_id) in ({ids:Array(String)}) group by shop_id`,
      { ids },
    )
    expect(histories).toHaveLength(ids.length)
    for (const { names } of histories) {
      expect(names).toEqual([...names].sort())
      expect(new Set(names).size).toBe(2 * revision)
    }
  } finally {
    await analyst.close()
  }
})
