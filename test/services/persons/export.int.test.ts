import { randomUUID } from 'node:crypto'
import { parse } from 'csv-parse/sync'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createPersonExport, type KeptThing, type OpenExport } from '#persons/export.js'
import { keptVersionsOf } from '#persons/kept-records.js'
import { keptRefusalsOf } from '#persons/kept-refusals.js'
import { createFindPersons, type KnownPerson } from '#persons/who.js'
import { asCsvText, asJsonText, inPieces } from '#persons/written.js'
import { boundedReader, createClickHouse } from '#platform/clickhouse.js'
import { createRegistry } from '#platform/registry.js'
import { catalogue } from '#schemas/catalogue.js'
import { logTableOf, ownMembersTable, rejectionsLog } from '#schemas/derive/names.js'
import { makeTables } from '../../support/make-tables.js'
import { openMigratedDatabase } from '../../support/migrated-database.js'
import { sharedParts } from '../../support/shared-parts.js'

// What an export finds in real tables: of one organisation, of one person, all versions, and nothing of anybody else.

const clickhouse = createClickHouse(sharedParts.CLICKHOUSE_URL)
const { pool } = await openMigratedDatabase(2)
const reader = boundedReader(clickhouse)
const open = createPersonExport({
  ...{ catalogue, pool, now: () => Date.UTC(2026, 0, 31) },
  clickhouse: reader,
  decoders: createRegistry(sharedParts.SCHEMA_REGISTRY_URL),
})
const [org, other] = [randomUUID(), randomUUID()]
const [ann, bob, cy] = [randomUUID(), randomUUID(), randomUUID()]
const [annsUser, annsFormerUser, shared] = [randomUUID(), randomUUID(), randomUUID()]
const shopId = randomUUID()
const [hers, moved, favourite] = [randomUUID(), randomUUID(), randomUUID()]
const touches = { byStudent: randomUUID(), byUser: randomUUID(), byShared: randomUUID(), byText: randomUUID() }

type Row = Record<string, unknown>
const insert = async (table: string, rows: Row[], of: string): Promise<void> => {
  const lines = rows.map((row) => JSON.stringify({ org_id: of, accepted_at: '2026-01-01 00:00:00', ...row }))
  await clickhouse.command(`insert into weir.${table} format JSONEachRow\n${lines.join('\n')}`)
}
const store = (type: string, rows: Row[], of = org): Promise<void> => insert(logTableOf(type), rows, of)

const purchase = { shop_id: shopId, region: 'GB', savings: 0, amount: 5.25 }
const touch = (interaction_id: string, event_timestamp: string, more: Row): Row => ({
  ...{ interaction_id, event_timestamp, recorded_at: event_timestamp, version: 1, interaction_type: 'SHARE' },
  ...{ item_type: 'SHOP', item_id: shopId, ...more },
})

beforeAll(async () => {
  await makeTables(clickhouse)
  const customers = [
    { customer_id: ann, user_id: annsFormerUser, region: 'FR', version: 1 },
    { customer_id: ann, user_id: annsUser, region: 'GB', birthdate: '2001-02-28', version: 2 },
    { customer_id: ann, user_id: shared, region: 'GB', version: 3 },
    { customer_id: bob, user_id: shared, region: 'IE', version: 4 },
  ]
  await store('customers', customers)
  // A row that comes twice, and the same ids in another organisation.
  await store('customers', customers.slice(0, 1))
  await store('customers', [{ customer_id: ann, user_id: annsUser, region: 'DE', version: 9 }], other)
  await store('transactions', [
    { transaction_id: hers, student_id: ann, ...purchase, version: 1 },
    { transaction_id: hers, student_id: ann, ...purchase, amount: 7, version: 2, is_deleted: true },
    { transaction_id: moved, student_id: ann, ...purchase, version: 3 },
    { transaction_id: moved, student_id: bob, ...purchase, version: 4 },
    { transaction_id: randomUUID(), ...purchase, version: 5 },
  ])
  await store('transactions', [{ transaction_id: randomUUID(), student_id: ann, ...purchase, version: 1 }], other)
  await store('student-favourites', [
    { student_favourite_id: favourite, customer_id: ann, shop_id: shopId, version: 1 },
    { student_favourite_id: randomUUID(), customer_id: bob, shop_id: shopId, version: 1 },
  ])
  await store('interactions', [
    touch(touches.byStudent, '2026-01-03 00:00:00', { student_id: ann, city: 'Leeds' }),
    touch(touches.byUser, '2026-01-01 00:00:00', { user_id: annsUser.toUpperCase() }),
    touch(touches.byShared, '2026-01-02 00:00:00', { user_id: shared }),
    touch(touches.byText, '2026-01-04 00:00:00', { user_id: 'anna/1' }),
    touch(randomUUID(), '2026-01-05 00:00:00', { user_id: 'anna/12', student_id: bob }),
  ])
  const refusal = (index: number, type: string, record: unknown, more: Row = {}): Row => ({
    ...{ rejected_at: `2026-01-0${index + 1} 00:00:00`, index, type, id: null, version: 1, truncated: false },
    problems: [{ field: null, code: 'unknown_field', message: 'there is no such field' }],
    record: typeof record === 'string' ? record : JSON.stringify(record),
    ...more,
  })
  await insert(
    rejectionsLog,
    [
      refusal(0, 'transactions', { transaction_id: 'x', student_id: ann.toUpperCase() }),
      refusal(1, 'shops', { shop_id: 'y', ownerId: ann }, { id: 'y' }),
      refusal(2, 'customers', `{"customer_id":"${ann}","gender":"aaa`, { id: ann, truncated: true }),
      refusal(3, 'interactions', { user_id: 'anna/1' }),
      refusal(4, 'interactions', { user_id: 'anna/12', city: 'anna/1' }),
      refusal(5, 'transactions', { student_id: bob }),
      refusal(6, 'customers', { customer_id: bob, user_id: shared, gender: 'x' }),
      refusal(7, 'interactions', { user_id: shared, city: 7 }),
    ],
    org,
  )
  await insert(rejectionsLog, [refusal(0, 'customers', { customer_id: ann })], other)
  const membership = { segment: 'early', since: '2026-01-01 00:00:00', until: '2200-01-01 00:00:00', ended: 0 }
  const lines = [ann, bob].map((customer_id) => JSON.stringify({ org_id: org, customer_id, ...membership }))
  await clickhouse.command(`insert into weir.${ownMembersTable} format JSONEachRow\n${lines.join('\n')}`)
})
afterAll(() => clickhouse.close())

const opened = async (id: string, of = org): Promise<OpenExport> => {
  const found = await open(of, id)
  if (!found) throw new Error(`nothing is kept of ${id}`)
  return found
}
const textOf = async (texts: AsyncIterable<string>): Promise<string> => {
  let text = ''
  for await (const piece of inPieces(texts)) text += piece
  return text
}
type Exported = { person: unknown; exported_at: string; elsewhere: unknown[] } & Record<KeptThing['list'], Row[]>
const exported = async (id: string, of = org): Promise<Exported> =>
  JSON.parse(await textOf(asJsonText(await opened(id, of)))) as Exported
let annsExport: Promise<Exported> | undefined
/** Asked once: to make it takes a second. */
const exportedAnn = (): Promise<Exported> => (annsExport ??= exported(ann))
const versions = ({ records }: Exported) =>
  records.map(({ type, id, version, is_current }) => [type, id, version, is_current])

it('has every version that names the person, and no other, with the newest told from former ones', async () => {
  const found = await exportedAnn()
  expect(found.person).toEqual({
    id: ann,
    customer_ids: [ann],
    user_ids: expect.toSatisfy(
      (ids: string[]) => ids.toSorted().join() === [annsUser, annsFormerUser, ann].toSorted().join(),
    ),
    not_followed: [{ user_id: shared, customers: 2 }],
  })
  expect(found.exported_at).toBe('2026-01-31T00:00:00.000Z')
  expect(versions(found).toSorted()).toEqual(
    [
      ['customers', ann, 1, false],
      ['customers', ann, 2, false],
      ['customers', ann, 3, true],
      ['transactions', hers, 1, false],
      ['transactions', hers, 2, true],
      // Its newest version is about somebody else.
      ['transactions', moved, 3, false],
      ['student-favourites', favourite, 1, true],
      ['interactions', touches.byUser, 1, true],
      ['interactions', touches.byStudent, 1, true],
    ].toSorted(),
  )
  expect(found.records[1]).toEqual({
    ...{ type: 'customers', id: ann, version: 2, accepted_at: '2026-01-01T00:00:00.000Z', is_deleted: false },
    is_current: false,
    record: {
      ...{ customer_id: ann, user_id: annsUser, region: 'GB', birthdate: '2001-02-28' },
      ...{ institute_id: null, course_id: null, gender: null, created: null, updated: null, is_deleted: null },
    },
  })
  expect(JSON.stringify(found)).not.toContain(bob)
})

it('has refused records wherever in them the person is named, as they were sent', async () => {
  const { refused } = await exportedAnn()
  expect(refused.map(({ type, record, truncated }) => [type, record, truncated])).toEqual([
    ['transactions', { transaction_id: 'x', student_id: ann.toUpperCase() }, false],
    ['shops', { shop_id: 'y', ownerId: ann }, false],
    ['customers', `{"customer_id":"${ann}","gender":"aaa`, true],
  ])
})

it('has what was made of the records: marts and segments of the organisation’s own', async () => {
  const { derived } = await exportedAnn()
  expect(derived.map(({ from }) => from)).toEqual(['customers_overview', 'own_segments'])
  expect(derived[0]?.values).toMatchObject({ customer_id: ann, user_id: shared, region: 'GB', transactions: 0 })
  expect(derived[1]?.values).toEqual({
    ...{ customer_id: ann, segment: 'early', since: '2026-01-01T00:00:00.000Z', until: null },
  })
})

it('says where copies may be that it cannot read', async () => {
  const { elsewhere } = await exportedAnn()
  const places = elsewhere.map((each) => (each as { where: string }).where)
  expect(places).toContain('backups (`weir backup`)')
  expect(places.join()).toContain('weir.accepted.customers')
  expect(places.join()).not.toContain('shops')
})

it('finds the customer by a user_id that is this customer’s alone, also a former one and in upper case', async () => {
  const found = await exported(annsFormerUser.toUpperCase())
  expect(found.person).toMatchObject({ customer_ids: [ann, annsFormerUser] })
  expect(versions(found)).toEqual(versions(await exportedAnn()))
})

it('follows a user_id that several customers have to none of them', async () => {
  const found = await exported(shared)
  expect(found.person).toEqual({
    ...{ id: shared, customer_ids: [shared], user_ids: [shared] },
    not_followed: [{ user_id: shared, customers: 2 }],
  })
  expect(versions(found)).toEqual([['interactions', touches.byShared, 1, true]])
  expect(found.refused.map(({ record }) => record)).toEqual([{ user_id: shared, city: 7 }])
  expect(JSON.stringify(found)).not.toContain(bob)
})

it('takes any text for a user_id of an interaction, and looks for the whole of it', async () => {
  const found = await exported('anna/1')
  expect(versions(found)).toEqual([['interactions', touches.byText, 1, true]])
  expect(found.refused.map(({ record }) => record)).toEqual([{ user_id: 'anna/1' }])
})

it('knows nobody of another organisation, and nobody who is not there', async () => {
  expect(await open(other, bob)).toBeUndefined()
  expect(await open(other, shared)).toBeUndefined()
  expect(await open(org, cy)).toBeUndefined()
  expect(await open(org, 'nobody')).toBeUndefined()
  expect(await open(org, '')).toBeUndefined()
  const { records, refused } = await exported(ann, other)
  expect(records.map(({ type }) => type)).toEqual(['customers', 'transactions'])
  expect(refused).toHaveLength(1)
})

const findPerson = async (org: string, id: string): Promise<KnownPerson> => {
  const person = (await createFindPersons(reader, catalogue)(org, [id])).get(id)
  if (!person) throw new Error('nobody was looked up')
  return person
}

it('reads page by page, and leaves nothing out between them', async () => {
  const person = await findPerson(org, ann)
  const paged = async <T>(all: AsyncIterable<T>): Promise<T[]> => {
    const found: T[] = []
    for await (const each of all) found.push(each)
    return found
  }
  for (const page of [1, 2]) {
    const deps = { clickhouse: reader, catalogue }
    const records = await paged(keptVersionsOf({ ...deps, page }, org, person))
    expect(records).toEqual(await paged(keptVersionsOf(deps, org, person)))
    const refused = await paged(keptRefusalsOf({ ...deps, page }, org, person))
    expect(refused).toEqual(await paged(keptRefusalsOf(deps, org, person)))
  }
})

it('writes the same as CSV, a line for each value', async () => {
  const rows = parse(await textOf(asCsvText(await opened(ann))), { columns: true }) as Record<string, string>[]
  const of = (part: string) => rows.filter((row) => row.part === part)
  expect(of('person').map(({ field }) => field)).toEqual(
    expect.arrayContaining(['id', 'customer_id', 'user_id', 'not_followed', 'exported_at']),
  )
  expect(of('former record')).toContainEqual({
    ...{ part: 'former record', type: 'customers', id: ann, version: '2', time: '2026-01-01T00:00:00.000Z' },
    ...{ field: 'birthdate', value: '2001-02-28' },
  })
  expect(of('record').map(({ type, field, value }) => [type, field, value])).toContainEqual([
    'interactions',
    'city',
    'Leeds',
  ])
  expect(of('refused').map(({ field, value }) => [field, value])).toContainEqual(['ownerId', ann])
  expect(of('derived').map(({ type, field, value }) => [type, field, value])).toContainEqual([
    'own_segments',
    'segment',
    'early',
  ])
  expect(of('elsewhere').length).toBeGreaterThan(3)
})
