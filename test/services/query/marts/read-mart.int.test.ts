import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { boundedReader, createClickHouse } from '#platform/clickhouse.js'
import { createReadMartRows } from '#query/marts/read-mart.js'
import { type MartQuestion, ownColumns, toStatement } from '#query/marts/statement.js'
import { marts } from '#schemas/marts/all.js'
import { fill, people, shops, smallWorld } from '../../../schemas/marts/small-world.js'
import { makeTables } from '../../../support/make-tables.js'
import { sharedParts } from '../../../support/shared-parts.js'

const clickhouse = createClickHouse(sharedParts.CLICKHOUSE_URL)
const [org, other] = [randomUUID(), randomUUID()]
const readRows = createReadMartRows(boundedReader(clickhouse))

beforeAll(async () => {
  await makeTables(clickhouse)
  await fill(clickhouse, org, smallWorld)
  await fill(clickhouse, other, smallWorld)
})
afterAll(() => clickhouse.close())

const read = async (name: string, asked: Partial<MartQuestion> & Record<string, unknown> = {}, of: string = org) => {
  const mart = marts.find((each) => each.name === name)
  if (!mart) throw new Error(`there is no mart ${name}`)
  const statement = toStatement(mart, of, { limit: 1000, ...asked })
  if ('problems' in statement) throw new Error(statement.problems[0]?.message)
  return { ...statement, rows: await readRows(statement) }
}

it.each(marts)('answers $name with the columns that it declares, as the query to be pasted does', async (mart) => {
  const { rows, columns, pasteable } = await read(mart.name, mart.asked)
  if ('error' in rows) throw new Error(rows.error.message)
  const names = ownColumns(mart)
  expect(columns.map(({ name }) => name)).toEqual(names)
  for (const row of rows) expect(Object.keys(row)).toEqual(names)
  const pasted = await clickhouse.query(
    pasteable,
    {},
    { output_format_json_quote_decimals: 1, date_time_output_format: 'iso' },
  )
  // How long ago something was, and how old somebody is, are as of now; nothing changes within a test.
  expect(pasted).toEqual(rows)
  const nobodys = await read(mart.name, mart.asked, 'nobody')
  expect(nobodys.rows).toEqual([])
})

it('reads of the records no row of others', async () => {
  const statement = toStatement(marts.find(({ name }) => name === 'funnel') ?? expect.fail('funnel'), org, { limit: 1 })
  if ('problems' in statement) throw new Error(statement.problems[0]?.message)
  const { settings } = statement
  for (const table of ['interactions_log', 'transactions_current', 'offers_current']) {
    const organisations = `select distinct org_id from weir.${table}`
    expect(await clickhouse.query(organisations, {}, settings), table).toEqual([{ org_id: org }])
    expect((await clickhouse.query(organisations)).length, table).toBeGreaterThan(1)
  }
})

it('chooses days, regions and shops, and sums what is left to the cent', async () => {
  const sum = { by: 'region', sum: 'amount,transactions' }
  expect(
    (await read('sales_by_day', { ...sum, from: '2026-03-01', to: '2026-03-31', shop_id: shops.cafe })).rows,
  ).toEqual([
    { region: 'FR', amount: '3.3', transactions: 1, rows: 1 },
    { region: 'GB', amount: '5', transactions: 1, rows: 1 },
  ])
  expect((await read('sales_by_day', { sum: 'amount', region: 'GB' })).rows).toEqual([{ amount: '18.9', rows: 5 }])
})

it('orders by any column that is answered, and ends at the limit', async () => {
  const { rows } = await read('sales_by_day', { by: 'shop_id', sum: 'amount', order: '-amount', limit: 1 })
  expect(rows).toEqual([{ shop_id: shops.books, amount: '11.4', rows: 3 }])
  const fewest = await read('customer_segments', { by: 'segment', order: 'rows', limit: 1 })
  expect(fewest.rows).toHaveLength(1)
})

it('gives the members of a segment at a moment, and says so where the moment is none', async () => {
  const at = '2026-03-31 12:00:00'
  const found: unknown[] = []
  for (const name of ['champions', 'loyal', 'at risk', 'new', 'promising', 'fading', 'lost']) {
    const { rows } = await read('segment_members', { name, at })
    if (!('error' in rows)) found.push(...rows.map(({ customer_id }) => customer_id))
  }
  expect(found).toContain(people.ann)
  const { rows } = await read('segment_members', { name: 'loyal', at: "never' or '" })
  expect(rows).toMatchObject({ error: { status: 400 } })
})
