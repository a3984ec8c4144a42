import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { createClickHouse } from '#platform/clickhouse.js'
import type { Fetch } from '#platform/kafka/kafka.js'
import { createRegistry } from '#platform/registry.js'
import { catalogue } from '#schemas/catalogue.js'
import { acceptedSchema, schemasByTopic } from '#schemas/derive/avro.js'
import { acceptedTopic, database, subjectOf } from '#schemas/derive/names.js'
import type { AcceptedEvent } from '#schemas/events.js'
import { shop } from '#schemas/records/shop.js'
import { provisionTables } from '../../../services/operator/provision/tables.js'
import { createFetchHandler } from '../../../services/sink/handle-fetch.js'
import { openTableFeeds } from '../../../services/sink/table-feeds.js'

const parts = inject('parts')
const clickhouse = createClickHouse(parts.CLICKHOUSE_URL)
const registry = createRegistry(parts.SCHEMA_REGISTRY_URL)
const topic = acceptedTopic(shop.type)
const setAside: string[] = []
let handle: (fetch: Fetch) => Promise<void>
let encode: (event: AcceptedEvent) => Buffer

beforeAll(async () => {
  await provisionTables(clickhouse, catalogue)
  for (const [each, schema] of schemasByTopic(catalogue.all.values()))
    await registry.register(subjectOf(each), schema, 'FULL_TRANSITIVE')
  encode = await registry.encoder<AcceptedEvent>(subjectOf(topic), acceptedSchema(shop))
  handle = createFetchHandler({
    feeds: await openTableFeeds(catalogue, registry, (table, container) =>
      clickhouse.insertAvro(`${database}.${table}`, container),
    ),
    setAside: async ({ offset }) => void setAside.push(`${offset}`),
    figures: { fetched: () => {}, written: () => {}, failed: () => {} },
    failAt: () => {},
  })
})
afterAll(() => clickhouse.close())

// An organisation of its own for each test: the other test files share this ClickHouse.
const shopEvent = (org: string, over: Partial<AcceptedEvent> = {}): AcceptedEvent => ({
  org_id: org,
  request_id: randomUUID(),
  batch_id: randomUUID(),
  accepted_at: Date.UTC(2026, 0, 1),
  version: 8192,
  shop_id: randomUUID(),
  name: 'Zum goldenen Löwen 漢字',
  region: 'DE',
  is_public: null,
  created: Date.UTC(2025, 5, 1, 12, 30, 15, 123),
  updated: null,
  is_deleted: null,
  ...over,
})
const fetchOf = (values: Buffer[]): Fetch => ({
  topic,
  partition: 0,
  messages: values.map((value, offset) => ({ offset, timestamp: 0, key: null, value })),
  highWatermark: values.length,
  holdsPartition: () => true,
})
const write = (...events: AcceptedEvent[]) => handle(fetchOf(events.map(encode)))
const shownOf = (org: string) =>
  clickhouse.query<Record<string, unknown>>(
    `select shop_id, name, region, is_public, toString(created) as created
    from weir.shops where org_id = {org:String} order by name`,
    { org },
  )

it('shows an event as a row with the same values', async () => {
  const org = `sink-${randomUUID()}`
  const event = shopEvent(org)
  await write(event)
  expect(await shownOf(org)).toEqual([
    {
      shop_id: event.shop_id,
      name: 'Zum goldenen Löwen 漢字',
      region: 'DE',
      is_public: null,
      created: '2025-06-01 12:30:15.123',
    },
  ])
})

it('shows a row once though its event is written twice, and the highest version whatever comes last', async () => {
  const org = `sink-${randomUUID()}`
  const [once, changed] = [shopEvent(org, { name: 'a' }), shopEvent(org, { name: 'b' })]
  const newer = { ...changed, version: changed.version + 1, name: 'b, renamed' }
  await write(once, newer)
  await write(once, changed, newer)
  expect((await shownOf(org)).map(({ name }) => name)).toEqual(['a', 'b, renamed'])
})

it('keeps a deleted record out of the view', async () => {
  const org = `sink-${randomUUID()}`
  const event = shopEvent(org)
  await write(event)
  await write({ ...event, version: event.version + 1, is_deleted: true })
  expect(await shownOf(org)).toEqual([])
})

it('sets aside what ClickHouse cannot take, and writes all the rest of the fetch', async () => {
  const org = `sink-${randomUUID()}`
  const whole = encode(shopEvent(org, { name: 'whole' }))
  const cutOff = encode(shopEvent(org, { name: 'cut off' }))
  await handle(fetchOf([whole, Buffer.from('not Avro'), cutOff.subarray(0, cutOff.length - 20)]))
  expect(setAside).toEqual(['1', '2'])
  expect((await shownOf(org)).map(({ name }) => name)).toEqual(['whole'])
})
