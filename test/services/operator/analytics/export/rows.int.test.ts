import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdtemp, readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { parse } from 'csv-parse/sync'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createClickHouse } from '#platform/clickhouse.js'
import { catalogue } from '#schemas/catalogue.js'
import { viewOf } from '#schemas/derive/names.js'
import { marts } from '#schemas/marts/all.js'
import { exampleOf } from '#schemas/marts/mart.js'
import { fill, id, shops, smallWorld } from '../../../../schemas/marts/small-world.js'
import { makeTables } from '../../../../support/make-tables.js'
import { runWeir } from '../../../../support/run-weir.js'
import { sharedParts } from '../../../../support/shared-parts.js'
import { sized } from '../../../../support/sized.js'
import { readParquet } from './read-parquet.js'

const { CLICKHOUSE_URL } = sharedParts
const clickhouse = createClickHouse(CLICKHOUSE_URL)
const [org, other] = [randomUUID(), randomUUID()]
const folder = await mkdtemp(join(tmpdir(), 'weir-export-'))

beforeAll(async () => {
  await makeTables(clickhouse)
  for (const each of [org, other]) await fill(clickhouse, each, smallWorld)
})
afterAll(() => clickhouse.close())

const weir = (...words: string[]) => runWeir(['export', ...words], { CLICKHOUSE_URL })

/** Exports to a file of its own; its path. */
const exported = async (ending: string, ...words: string[]): Promise<string> => {
  const file = join(folder, `${randomUUID()}${ending}`)
  const { stderr, exitCode } = await weir(...words, '--out', file)
  expect([stderr, exitCode]).toEqual(['', 0])
  return file
}

// As readParquet gives values.
const inJson = {
  ...{ output_format_json_quote_decimals: 1, output_format_json_quote_64bit_integers: 1 },
  date_time_output_format: 'iso',
}
const shownIn = (view: string, of = org) =>
  clickhouse.query<object>(`select * from ${view} where org_id = {of:String}`, { of }, inJson)
const sorted = (rows: object[]) => rows.map((row) => JSON.stringify(row)).sort()

it.each([...catalogue.all.keys()])('exports %s as their view shows them', async (type) => {
  const shown = await shownIn(`weir.${viewOf(type)}`)
  expect(shown.length).toBeGreaterThan(0)
  expect(sorted(await readParquet(await exported('.parquet', type, '--org', org)))).toEqual(sorted(shown))
})

const usual = ['sales_by_day', 'shops_overview', 'segment_members']
it.each(
  sized(
    marts.filter(({ name }) => usual.includes(name)),
    [...marts],
  ),
)('exports the mart $name as its view shows it', async (mart) => {
  const values = Object.entries(mart.asked ?? {}).map(([name, value]) => `${name}=${value}`)
  const asked = values.length > 0 ? ['--with', ...values] : []
  const rows = await readParquet(await exported('.parquet', mart.name, '--org', org, ...asked))
  expect(sorted(rows)).toEqual(sorted(await shownIn(exampleOf(mart))))
})

it('exports every version of every record, with the time in which it was valid', async () => {
  const rows = await readParquet(await exported('.parquet', 'transactions', '--org', org, '--all-versions'))
  expect(sorted(rows)).toEqual(sorted(await shownIn('weir.transactions_history')))
  expect(rows.filter(({ is_deleted }) => is_deleted)).toHaveLength(1)
})

it('exports records as they were, and those of some days', async () => {
  const then = await readParquet(await exported('.parquet', 'transactions', '--org', org, '--at', '2026-03-04'))
  expect(sorted(then)).toEqual(sorted(await shownIn("weir.transactions_as_of(at = '2026-03-04')")))
  const march = ['--from', '2026-03-02', '--to', '2026-03-05']
  const some = await readParquet(await exported('.parquet', 'transactions', '--org', org, ...march))
  expect(some.map(({ transaction_id }) => transaction_id)).toEqual([id(203), id(206)])
  const days = await readParquet(await exported('.parquet', 'sales_by_day', '--org', org, ...march))
  expect(days.map(({ day, amount }) => [day, amount])).toEqual([
    ['2026-03-02', '5'],
    ['2026-03-05', '3.3'],
  ])
  const seen = await readParquet(await exported('.parquet', 'interactions', '--org', org, '--from', '2026-03-02'))
  expect(seen).toHaveLength(2)
})

it('exports the rows of all organisations', async () => {
  const rows = await readParquet(await exported('.parquet', 'shop-tags'))
  const ours = (of: string) => rows.filter(({ org_id }) => org_id === of)
  expect([ours(org).length, ours(other).length]).toEqual([1, 1])
})

it('writes CSV and NDJSON, also packed, with exact numbers and texts of several lines', async () => {
  const odd = randomUUID()
  const name = 'two\nlines, "quoted", \\ and ü'
  await fill(clickhouse, odd, {
    transactions: [
      {
        transaction_id: id(1),
        shop_id: shops.cafe,
        region: 'GB',
        amount: 0.29,
        savings: 0,
        accepted_at: '2026-01-01 00:00:00',
      },
    ],
    shops: [{ shop_id: shops.cafe, name, region: 'GB' }],
  })
  for (const type of ['shops', 'transactions']) {
    const [shown] = await clickhouse.query<Record<string, unknown>>(
      `select * from weir.${type} where org_id = {odd:String}`,
      { odd },
      { ...inJson, output_format_json_quote_64bit_integers: 0 },
    )
    const ndjson = readFileSync(await exported('.ndjson', type, '--org', odd), 'utf8')
    expect(ndjson.split('\n').map((line) => line && JSON.parse(line))).toEqual([shown, ''])
    expect(unpacked(await exported('.ndjson.gz', type, '--org', odd))).toBe(ndjson)
    const csv = readFileSync(await exported('.csv', type, '--org', odd), 'utf8')
    expect(unpacked(await exported('.csv.gz', type, '--org', odd))).toBe(csv)
    const [row] = parse(csv, { columns: true }) as Record<string, string>[]
    expect(row).toEqual(
      Object.fromEntries(
        Object.entries(shown ?? {}).map(([key, value]) => [key, value === null ? '\\N' : String(value)]),
      ),
    )
  }
})

it('writes a file without rows where there are none: with its columns', async () => {
  const nobody = randomUUID()
  const file = await exported('.parquet', 'customers_overview', '--org', nobody)
  expect(await readParquet(file)).toEqual([])
  expect(readFileSync(await exported('.csv', 'tags', '--org', nobody), 'utf8')).toMatch(
    /^"org_id","tag_id","name",.*\n$/,
  )
})

it('says what it wrote, and leaves nothing but the file', async () => {
  const file = join(await mkdtemp(join(folder, 'one-')), 'shops.ndjson')
  const { stdout } = await weir('shops', '--org', org, '--out', file, '--json')
  const { at, bytes, ...said } = JSON.parse(stdout)
  expect(said).toEqual({ file, rows: 2, pieces: 1, resumed: false })
  expect(bytes).toBe(readFileSync(file).length)
  expect(Math.abs(Date.parse(`${at}Z`) - Date.now())).toBeLessThan(60_000)
  expect(await readdir(dirname(file))).toEqual(['shops.ndjson'])
  const again = await weir('shops', '--org', org, '--out', file)
  expect([again.exitCode, again.stderr]).toEqual([1, expect.stringContaining('is there already: remove it')])
})

it.each([
  [['shopz', '--out', 'a.csv'], 'did you mean shops?'],
  [['shops', '--out', 'shops.xlsx'], "the end of the file's name says the format"],
  [['shops', '--out', 'shops.parquet.gz'], "the end of the file's name says the format"],
  [['shops'], 'say which file to write'],
  [['interactions', '--out', 'a.csv', '--all-versions'], 'have no versions'],
  [['cohorts', '--out', 'a.csv', '--from', '2026-01-01'], 'no column day'],
  [['cohorts', '--out', 'a.csv', '--at', '24h'], 'leave out --at'],
  [['cohorts', '--out', 'a.csv', '--with', 'at=1'], 'leave out --with'],
  [['segment_members', '--out', 'a.csv', '--with', 'name=loyal'], "--with at='2026-01-31 12:00:00'"],
  [['shops', '--out', 'a.csv', '--from', 'yesterday'], 'write it as 2026-01-31'],
  [['shops', '--out', 'a.csv', '--from', '2026-02-02', '--to', '2026-02-01'], 'must not be after'],
])('refuses %j: %s', async (words, reason) => {
  const { stdout, stderr, exitCode } = await weir(...words)
  expect([stdout, exitCode]).toEqual(['', 1])
  expect(stderr).toContain(reason)
})

const unpacked = (file: string): string => gunzipSync(readFileSync(file)).toString()
