import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createClickHouse } from '#platform/clickhouse.js'
import type { Fetch } from '#platform/kafka/kafka.js'
import { createRegistry } from '#platform/registry.js'
import { catalogue, createCatalogue } from '#schemas/catalogue.js'
import { acceptedSchema, schemasByTopic, waitingSchema } from '#schemas/derive/avro.js'
import { acceptedTopic, subjectOf, viewOf, waitingTopic } from '#schemas/derive/names.js'
import type { AcceptedEvent, WaitingEvent } from '#schemas/events.js'
import { type Field, optional, text, uuid } from '#schemas/field.js'
import { lifecycle, record } from '#schemas/record.js'
import { interaction } from '#schemas/records/interaction.js'
import { shop } from '#schemas/records/shop.js'
import { transaction } from '#schemas/records/transaction.js'
import { createClickHouseDestination } from '#tables/clickhouse-destination.js'
import { provisionTables } from '../../../services/operator/provision/tables.js'
import { createFetchHandler } from '../../../services/sink/handle-fetch.js'
import { makeTables } from '../../support/make-tables.js'
import { sharedParts } from '../../support/shared-parts.js'

const parts = sharedParts
const clickhouse = createClickHouse(parts.CLICKHOUSE_URL)
const registry = createRegistry(parts.SCHEMA_REGISTRY_URL)
const topic = acceptedTopic(shop.type)
const setAside: string[] = []
let handle: (fetch: Fetch) => Promise<void>
let encode: (event: AcceptedEvent) => Buffer

beforeAll(async () => {
  await makeTables(clickhouse)
  for (const [each, schema] of schemasByTopic(catalogue.all.values()))
    await registry.register(subjectOf(each), schema, 'FULL_TRANSITIVE')
  encode = await registry.encoder<AcceptedEvent>(subjectOf(topic), acceptedSchema(shop))
  handle = createFetchHandler({
    feeds: await createClickHouseDestination({ catalogue, clickhouse }).openFeeds(registry),
    setAside: async ({ offset }) => void setAside.push(`${offset}`),
    figures: { fetched: () => {}, written: () => {} },
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
  next: values.length,
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

it('adds money up to the cent, which a float that is cut off does not', async () => {
  const org = `sink-${randomUUID()}`
  const sold = acceptedTopic(transaction.type)
  const encodeSale = await registry.encoder<AcceptedEvent>(subjectOf(sold), acceptedSchema(transaction))
  const absent = Object.fromEntries(Object.keys(transaction.fields).map((name) => [name, null]))
  const { org_id, request_id, batch_id, accepted_at } = shopEvent(org)
  const sale = (amount: number, n: number): AcceptedEvent => ({
    ...{ ...absent, org_id, request_id, batch_id, accepted_at, version: 8192 + n, transaction_id: randomUUID() },
    ...{ shop_id: randomUUID(), region: 'GB', amount, savings: 0.29 },
  })
  const amounts = [0.29, 1.15, 8.2, 999_999_999.99, 0.1, 0.2, 1e300]
  await handle({ ...fetchOf(amounts.map(sale).map(encodeSale)), topic: sold })
  const [sums] = await clickhouse.query(
    `select toString(sum(amount_exact)) as paid, toString(sum(savings_exact)) as saved, 
      toUInt32(countIf(amount_exact is null)) as beyond, toUInt32(countIf(not is_deleted)) as kept,
      toString(sum(toDecimal64(savings, 2))) as cut
    from weir.transactions where org_id = {org:String}`,
    { org },
  )
  expect(sums).toEqual({ paid: '1000000009.93', saved: '2.03', beyond: 1, kept: amounts.length, cut: '1.96' })
})

it('keeps a deleted record out of the view', async () => {
  const org = `sink-${randomUUID()}`
  const event = shopEvent(org)
  await write(event)
  await write({ ...event, version: event.version + 1, is_deleted: true })
  expect(await shownOf(org)).toEqual([])
})

it('shows what waits, and for what, until its last change says how that ended', async () => {
  const org = `sink-${randomUUID()}`
  const encodeWaiting = await registry.encoder<WaitingEvent>(subjectOf(waitingTopic), waitingSchema())
  const missing = [{ field: 'shop_id', type: 'shops', id: randomUUID() }]
  const event = (index: number, over: Partial<WaitingEvent> = {}): WaitingEvent => ({
    ...{ org_id: org, request_id: randomUUID(), batch_id: batch, version: 7, type: 'offers', index, id: randomUUID() },
    ...{ state: 'waiting', missing, since: Date.UTC(2026, 0, 1), until: Date.UTC(2026, 0, 2) },
    ...{ changed_at: Date.UTC(2026, 0, 1), ...over },
  })
  const batch = randomUUID()
  const [waits, ends] = [event(0), event(1)]
  const ended = { ...ends, version: 9, state: 'accepted' as const, changed_at: Date.UTC(2026, 0, 1, 12) }
  const tell = (...events: WaitingEvent[]) => handle({ ...fetchOf(events.map(encodeWaiting)), topic: waitingTopic })
  await tell(waits, ends, ended)
  // Told again, and in the wrong order: the version counts.
  await tell(ends)
  const shown = await clickhouse.query(
    `select type, id, missing, toString(since) as began, toString(until) as ends, batch_id, index
    from weir.waiting where org_id = {org:String}`,
    { org },
  )
  const times = { began: '2026-01-01 00:00:00.000', ends: '2026-01-02 00:00:00.000' }
  expect(shown).toEqual([{ type: 'offers', id: waits.id, missing, ...times, batch_id: batch, index: 0 }])
  // As docs/operations.md shows it.
  const behind = await clickhouse.query(
    `select m.type, m.id, toUInt32(count()) as waiting from weir.waiting array join missing as m
    where org_id = {org:String} group by m.type, m.id order by waiting desc`,
    { org },
  )
  expect(behind).toEqual([{ 'm.type': 'shops', 'm.id': missing[0]?.id, waiting: 1 }])
})

it('sets aside what ClickHouse cannot take, and writes all the rest of the fetch', async () => {
  const org = `sink-${randomUUID()}`
  const whole = encode(shopEvent(org, { name: 'whole' }))
  const cutOff = encode(shopEvent(org, { name: 'cut off' }))
  await handle(fetchOf([whole, Buffer.from('not Avro'), cutOff.subarray(0, cutOff.length - 20)]))
  expect(setAside).toEqual(['1', '2'])
  expect((await shownOf(org)).map(({ name }) => name)).toEqual(['whole'])
})

it('waits at an event that its tables have no column for, and writes it whole once they are provisioned', async () => {
  const type = `things-${randomBytes(4).toString('hex')}`
  const versionWith = (fields: Record<string, Field>) => {
    const thing = record({
      type,
      id: 'thing_id',
      about: 'A thing.',
      fields: { thing_id: uuid(), ...fields, ...lifecycle },
    })
    return { thing, catalogue: createCatalogue([...catalogue.uploads.values(), thing], interaction) }
  }
  const [older, newer] = [versionWith({}), versionWith({ colour: optional(text()) })]
  const things = acceptedTopic(type)
  await provisionTables(clickhouse, older.catalogue)
  // As no provisioning leaves it: the subject has the field, and the tables have not.
  for (const version of [older, newer]) {
    for (const [each, schema] of schemasByTopic([version.thing]))
      await registry.register(subjectOf(each), schema, 'FULL_TRANSITIVE')
  }
  const aside: number[] = []
  const handleThings = createFetchHandler({
    feeds: await createClickHouseDestination({ catalogue: older.catalogue, clickhouse }).openFeeds(registry),
    setAside: async ({ offset }) => void aside.push(offset),
    figures: { fetched: () => {}, written: () => {} },
  })
  const encodeThing = await registry.encoder<AcceptedEvent>(subjectOf(things), acceptedSchema(newer.thing))
  const { shop_id, name, region, is_public, ...origin } = shopEvent('acme')
  const event = { ...origin, thing_id: randomUUID(), colour: 'red' }
  const fetch = { ...fetchOf([encodeThing(event)]), topic: things }
  await expect(handleThings(fetch)).rejects.toThrow(/_log has no column for colour, which a newer version writes/)
  await provisionTables(clickhouse, newer.catalogue)
  await handleThings(fetch)
  expect(await clickhouse.query(`select colour from weir.${viewOf(type)}`)).toEqual([{ colour: 'red' }])
  expect(aside).toEqual([])
})
