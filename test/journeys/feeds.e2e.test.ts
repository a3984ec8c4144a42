import { randomUUID } from 'node:crypto'
import avro from 'avsc'
import { expect, it } from 'vitest'
import { branch } from '#schemas/records/branch.js'
import { customer } from '#schemas/records/customer.js'
import { interaction } from '#schemas/records/interaction.js'
import { shop } from '#schemas/records/shop.js'
import { eventually } from '../support/eventually.js'
import { sampleOf } from '../support/sample.js'
import { startEdge } from '../support/system/another-service.js'
import { kill } from '../support/system/processes.js'
import { analyst, newOrganisation, system } from '../support/system/system.js'
import { createUploader } from '../support/system/uploader.js'

// What test/services/feeds and the fault runs (test/faults) do not hold: the form of it all on a whole system.

type FeedRecord = { type: string; id: string; version: number; is_deleted: boolean; record: Record<string, unknown> }
type Page = { events: FeedRecord[]; next: string }

const org = await newOrganisation('feeds')
const other = await newOrganisation('feeds-other')
const page = async (query: string, from = org.uploader): Promise<Page> => {
  const { status, body } = await from.get<Page>(`/v1/feeds${query}`)
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}
/** To the end, in small pages. */
const readAll = async (path: string, after = 'beginning') => {
  const events: FeedRecord[] = []
  for (let next = after; ; ) {
    const read = await page(`${path}${path.includes('?') ? '&' : '?'}limit=3&after=${next}`)
    events.push(...read.events)
    if (read.events.length === 0) return { events, next: read.next }
    next = read.next
  }
}

it('hands over every record as it is, and then each change, in the order of its versions', async () => {
  const shops = Array.from({ length: 7 }, (_, n) => sampleOf(shop, { name: `shop ${n}` }))
  await org.uploader.upload('shops', shops)
  await org.uploader.upload('shops', [{ ...shops[0], name: 'renamed' }, { ...shops[1], is_deleted: true }, {}])
  const student = sampleOf(customer)
  await org.uploader.upload('customers', [student])
  const given = sampleOf(interaction, {
    student_id: student.customer_id,
    item_type: 'SHOP',
    item_id: shops[2]?.shop_id,
  })
  await org.uploader.interact(given)

  const { events, next } = await readAll('?types=shops,interactions')
  const newest = new Map(events.map((event) => [event.id, event]))
  expect(newest.size).toBe(8)
  expect(newest.get(String(shops[0]?.shop_id))).toMatchObject({ type: 'shops', record: { name: 'renamed' } })
  expect(newest.get(String(shops[1]?.shop_id))).toMatchObject({ is_deleted: true })
  const [seen] = events.filter(({ type }) => type === 'interactions')
  expect(seen?.record).toMatchObject({ interaction_type: given.interaction_type, item_id: shops[2]?.shop_id })
  const rows = await analyst.query<{ id: string; version: number }>(
    `select toString(shop_id) as id, toFloat64(version) as version from weir.shops_current final where org_id = {org:String}`,
    { org: org.name },
  )
  for (const { id, version } of rows) expect(newest.get(id)?.version, id).toBe(version)

  // From here on the log: every version, the older before the newer.
  for (const name of ['a', 'b', 'c']) await org.uploader.upload('shops', [{ ...shops[3], name }])
  const more = await readAll('?types=shops,interactions', next)
  expect(more.events.map(({ record }) => record.name)).toEqual(['a', 'b', 'c'])
  expect((await readAll('/shops', new Date(Date.now() - 60_000).toISOString())).events.length).toBeGreaterThanOrEqual(
    12,
  )
  const foreign = await other.uploader.get(`/v1/feeds?types=shops,interactions&after=${next}`)
  expect(foreign.status).toBe(400)
  expect((await page('/shops', other.uploader)).events).toEqual([])
})

it('tells those who wait at once, and goes on for them behind a killed edge', async () => {
  const { next } = await page('/branches?after=now')
  const shopRecord = sampleOf(shop)
  await org.uploader.upload('shops', [shopRecord])
  const given = sampleOf(branch, { shop_id: shopRecord.shop_id })
  const waiting = page(`/branches?after=${next}&wait=30s`)
  await org.uploader.upload('branches', [given])
  const told = await waiting
  expect(told.events.map(({ id }) => id)).toEqual([given.branch_id])

  const cutOff = org.uploader.get(`/v1/feeds/branches?after=${told.next}&wait=30s`)
  await kill('edge')
  await expect(cutOff).rejects.toThrow()
  const later = sampleOf(branch, { shop_id: shopRecord.shop_id })
  await eventually(async () => expect((await org.uploader.upload('branches', [later])).status).toBe(200), 60_000)
  expect((await page(`/branches?after=${told.next}`)).events.map(({ id }) => id)).toEqual([later.branch_id])
})

it('is the same at another edge, as lines, as a container and as a stream', async () => {
  const edge = await startEdge({})
  try {
    const there = createUploader(edge.url, org.key)
    const json = await page('/shops?limit=2', there)
    const get = (accept: string, query: string, signal?: AbortSignal) =>
      fetch(`${system.edgeUrl}/v1/feeds/shops?${query}`, {
        headers: { authorization: `Bearer ${org.key}`, accept },
        ...(signal && { signal }),
      })
    const lines = (await (await get('application/x-ndjson', 'limit=2')).text()).trimEnd().split('\n')
    expect(lines.slice(0, 2).map((line) => JSON.parse(line))).toEqual(json.events)

    const container = Buffer.from(await (await get('application/avro', 'limit=2')).arrayBuffer())
    const read: Record<string, unknown>[] = []
    const decoder = new avro.streams.BlockDecoder()
    decoder.on('data', (event) => read.push(event as Record<string, unknown>))
    decoder.end(container)
    await new Promise((resolve) => decoder.on('end', resolve))
    expect(read.map(({ org_id, shop_id, version }) => [org_id, shop_id, version])).toEqual(
      json.events.map(({ id, version }) => [org.name, id, version]),
    )

    const ended = new AbortController()
    const stream = await get('text/event-stream', 'after=now', ended.signal)
    const name = randomUUID()
    await there.upload('shops', [sampleOf(shop, { name })])
    let text = ''
    for await (const chunk of stream.body as unknown as AsyncIterable<Uint8Array>) {
      text += Buffer.from(chunk).toString()
      if (text.includes(name)) break
    }
    ended.abort()
    const id = /^id: (\S+)$/m.exec(text)?.[1]
    expect((await page(`/shops?after=${id}`)).events).toEqual([])
  } finally {
    await edge.stop()
  }
})
