import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOrg } from '#ledger/organisations.js'
import { createClickHouse } from '#platform/clickhouse.js'
import { createClickHouseAs } from '#platform/clickhouse-as.js'
import { createReads } from '#query/reads.js'
import { createAskAnalyst } from '#query/sql/ask-analyst.js'
import { createSavedQueries } from '#query/sql/saved-queries.js'
import { examples } from '../../../../clients/console/pages/sql/examples.js'
import { fill, smallWorld } from '../../../schemas/marts/small-world.js'
import { eventually } from '../../../support/eventually.js'
import { makeTables } from '../../../support/make-tables.js'
import { openMigratedDatabase } from '../../../support/migrated-database.js'
import { runWeir } from '../../../support/run-weir.js'
import { sharedParts } from '../../../support/shared-parts.js'
import { createEdge } from '../../edge/edge.js'

// By HTTP, with a real ClickHouse and an analyst that "weir analysts create" made: what a query of one's own gives, and what it does not.

const { CLICKHOUSE_URL } = sharedParts
const { pool, url: POSTGRES_URL } = await openMigratedDatabase(4)
const [org, other] = [`o-${randomUUID().slice(0, 8)}`, `p-${randomUUID().slice(0, 8)}`]
const clickhouse = createClickHouse(CLICKHOUSE_URL)
const forAnalysts = createClickHouseAs(CLICKHOUSE_URL, { requestTimeout: 60_000, maxConnections: 4 })
const edge = createEdge({
  askAnalyst: createAskAnalyst(forAnalysts, { isCluster: false }),
  sqlReads: createReads(20_000, 'the tables', { atOnce: 4, ofOne: 2 }),
  savedQueries: createSavedQueries(pool),
})
const { app, send, callers, lines } = edge
let [password, masked, url] = ['', '', '']

const weir = (...words: string[]) => runWeir(['analysts', ...words], { POSTGRES_URL, CLICKHOUSE_URL })

beforeAll(async () => {
  await makeTables(clickhouse)
  await fill(clickhouse, org, smallWorld)
  await fill(clickhouse, other, smallWorld)
  for (const each of [org, other]) await createOrg(pool, each)
  password = JSON.parse((await weir('create', '--org', org, '--json')).stdout).password
  masked = JSON.parse((await weir('create', '--org', org, '--masked', '--json')).stdout).password
  callers.set('own-key', { orgId: org, keyId: 'k-own', scopes: ['analytics:read'] })
  callers.set('other-key', { orgId: other, keyId: 'k-other', scopes: null })
  callers.set('narrow-key', { orgId: org, keyId: 'k-narrow', scopes: ['shops:write'] })
  url = await app.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(async () => {
  await weir('drop', '--org', org)
  await weir('drop', '--org', org, '--masked')
  await app.close()
  await forAnalysts.close()
  await clickhouse.close()
})

const headersOf = (more: Record<string, string> = {}) => ({
  authorization: 'Bearer own-key',
  'weir-analyst-password': password,
  ...more,
})
const sql = (query: string, more: object = {}, headers: Record<string, string> = {}) =>
  send('POST', '/v1/sql', { query, ...more }, headersOf(headers))
const post = (query: string, accept: string, init: RequestInit = {}) =>
  fetch(`${url}/v1/sql`, {
    method: 'POST',
    headers: { ...headersOf({ accept }), 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
    ...init,
  })

describe('a query', () => {
  it('is answered with exact values, their types, and what was read', async () => {
    const { status, body } = await sql(
      "select 9007199254740993 as big, toDecimal64('0.29', 2) as money, null as nothing, 'ä' as text, 0.5 as half",
    )
    expect(status).toBe(200)
    expect(body).toMatchObject({
      columns: [
        { name: 'big', type: 'UInt64' },
        { name: 'money', type: 'Decimal(18, 2)' },
        { name: 'nothing', type: 'Nullable(Nothing)' },
        { name: 'text', type: 'String' },
        { name: 'half', type: 'Float64' },
      ],
      rows: [['9007199254740993', '0.29', null, 'ä', 0.5]],
      truncated: false,
    })
    expect(body.seconds).toBeGreaterThan(0)
  })

  it('may end in a semicolon or a comment, and name tables without their database', async () => {
    for (const query of [
      'select count() from shops;',
      'select count() from weir.shops; -- all',
      'select count() from shops -- all',
    ])
      expect((await sql(query)).body.rows, query).toEqual([['2']])
    expect((await sql('show tables')).body.rows.length).toBeGreaterThan(10)
  })

  it.each(examples)('that the console has ready is answered to either analyst: $question', async ({ sql: text }) => {
    const query = text.replaceAll("'demo'", `'${org}'`)
    for (const each of [password, masked]) {
      const { status, body } = await sql(query, {}, { 'weir-analyst-password': each })
      expect([status, body.message]).toEqual([200, undefined])
    }
  })

  it('ends at the limit and says so, and counts and compares all rows all the same', async () => {
    const { body } = await sql('select number from numbers(100000000)', { limit: 10 })
    expect([body.rows.length, body.rows[9], body.truncated]).toEqual([10, ['9'], true])
    const whole = await sql('select number from numbers(10)', { limit: 10 })
    expect([whole.body.rows.length, whole.body.truncated]).toEqual([10, false])
    const within = 'select count() from numbers(5000) where number in (select number from numbers(3000))'
    expect((await sql(within, { limit: 1 })).body.rows).toEqual([['3000']])
    const compared = 'select number from numbers(100) except select number from numbers(98) order by number'
    expect((await sql(compared, { limit: 2 })).body.rows.flat().sort()).toEqual(['98', '99'])
  })

  it('ends at 8 MB too, also where the query asks ClickHouse for all rows', async () => {
    const wide = "select repeat('x', 1000000) from numbers(20) settings max_result_rows = 0"
    const { status, body } = await sql(wide)
    expect([status, body.rows.length, body.truncated]).toEqual([200, 7, true])
  })

  it.each([
    ['select amont from sales_by_day', /^Unknown expression.*`amont`/],
    ['select * frm shops', /^Syntax error: failed at position \d+/],
    ['select 1; select 2', /Multi-statements are not allowed/],
    ['select 1 format CSV', /^leave FORMAT out/],
    ["select 1 into outfile '/tmp/x'", /OUTFILE/],
    ['set max_threads = 2', /gives no rows|readonly/],
    ['-- nothing', /Empty query|Syntax error/],
  ])('%s is a 400 that says why, and nothing of the server', async (query, words) => {
    const { status, body } = await sql(query)
    expect([status, body.message]).toEqual([400, expect.stringMatching(words)])
    expect(body.message).not.toMatch(/version|DB::|127\.0\.0\.1|analyst_/)
  })

  it('that takes too long is a 504, and one that needs too much memory a 503, with what to do', async () => {
    const long = await sql('select sleep(1) from numbers(3) settings max_execution_time = 1, max_block_size = 1')
    expect([long.status, long.body.message]).toEqual([504, expect.stringContaining('ask for fewer days')])
    const large = await sql('select groupArray(number) from numbers(1e9) settings max_memory_usage = 100000000')
    expect([large.status, large.body.message]).toEqual([503, expect.stringContaining('more memory')])
  })
})

describe('only the own rows', () => {
  const counts = `select (select count() from shops), (select count() from transactions), (select count() from sales_by_day)`

  it('are seen, in views, marts and the tables behind them', async () => {
    for (const table of ['shops', 'shops_log', 'shops_history', 'transactions', 'customers_overview', 'sales_by_day'])
      expect((await sql(`select distinct org_id from ${table}`)).body.rows, table).toEqual([[org]])
    expect((await sql(counts)).status).toBe(200)
  })

  it.each([
    `select count() from shops_log settings additional_table_filters = {'weir.shops_log': '1'}`,
    `select count() from shops_log settings additional_table_filters = {}`,
    'select * from system.processes',
    'select * from system.query_log',
    'select * from `system`.users',
    'show processlist',
    "select * from url('http://127.0.0.1:1/', 'CSV', 'a String')",
    "select * from file('/etc/passwd', 'LineAsString', 'a String')",
    "select file('/etc/passwd')",
    "select * from remote('127.0.0.1', weir.shops_log)",
    "select * from merge('weir', 'shops_log')",
    `insert into shops_log (org_id) values ('x')`,
    `insert into shops_log (org_id) select 'x'`,
    'drop table shops_log',
    'truncate table shops_log',
    'alter table shops_log delete where 1',
    'create table mine (a Int8) engine = Memory',
    'kill query where 1',
    'set readonly = 0',
    'select 1 settings readonly = 0',
  ])('%s is refused', async (query) => {
    const { status, body } = await sql(query)
    expect([status, body.rows]).toEqual([400, undefined])
  })

  it('are not to be had with what else stands in the request', async () => {
    const asked = await send('POST', '/v1/sql?readonly=0', { query: 'select 1' }, headersOf())
    expect(asked.status).toBe(400)
    const more = await send('POST', '/v1/sql', { query: 'select 1', settings: {} }, headersOf())
    expect(more.status).toBe(400)
    const named = await sql('select currentUser()', {}, { 'x-clickhouse-user': 'default', 'x-clickhouse-key': '' })
    expect(named.status).toBe(200)
    expect((await sql('select distinct org_id from shops', {}, { 'x-clickhouse-user': 'default' })).body.rows).toEqual([
      [org],
    ])
  })
})

describe('who may not ask', () => {
  it('is refused by the scope before ClickHouse is asked', async () => {
    const { status, body } = await sql('select 1', {}, { authorization: 'Bearer narrow-key' })
    expect([status, body.message]).toEqual([403, expect.stringContaining('analytics:read')])
  })

  it('is told the next step: with a wrong password, without an analyst, and with the analyst of another organisation', async () => {
    const wrong = await sql('select 1', {}, { 'weir-analyst-password': 'wrong' })
    expect([wrong.status, wrong.body.message]).toEqual([
      403,
      expect.stringContaining(`weir analysts create --org ${org}`),
    ])
    const foreign = await sql('select 1', {}, { authorization: 'Bearer other-key' })
    expect([foreign.status, foreign.body.message]).toEqual([
      403,
      expect.stringContaining(`weir analysts create --org ${other}`),
    ])
    const none = await send('POST', '/v1/sql', { query: 'select 1' }, { authorization: 'Bearer own-key' })
    expect([none.status, none.body.message]).toEqual([400, expect.stringContaining('Weir-Analyst-Password')])
  })
})

describe('a download', () => {
  it('is the whole result as CSV, or as a Parquet file', async () => {
    const csv = await post('select number as n from numbers(20000)', 'text/csv')
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(csv.headers.get('content-disposition')).toBe('attachment; filename="query.csv"')
    const found = (await csv.text()).trim().split('\n')
    expect([found.length, found[0], found.at(-1)]).toEqual([20_001, '"n"', '19999'])
    const parquet = Buffer.from(await (await post('select 1 as n', 'application/vnd.apache.parquet')).arrayBuffer())
    expect([parquet.subarray(0, 4).toString(), parquet.subarray(-4).toString()]).toEqual(['PAR1', 'PAR1'])
  })

  it('that ClickHouse refuses is an error as any other', async () => {
    const answer = await post('select nothing', 'text/csv')
    expect([answer.status, answer.headers.get('content-type')]).toEqual([400, 'application/json; charset=utf-8'])
  })
})

it('is cancelled in ClickHouse when its caller goes away', async () => {
  const mark = `mark-${randomUUID()}`
  const running = async () =>
    clickhouse.query<{ n: number }>(
      `select 1 as n from system.processes where query like '%${mark}%' and query not like '%system.processes%'`,
    )
  const gone = new AbortController()
  const query = `select sleepEachRow(1), '${mark}' from numbers(60) settings max_block_size = 1`
  const asked = post(query, 'application/json', { signal: gone.signal }).catch(() => 'gone')
  await eventually(async () => expect(await running()).toHaveLength(1))
  gone.abort()
  expect(await asked).toBe('gone')
  await eventually(async () => expect(await running()).toHaveLength(0))
})

it('leaves no password, query or result in the log', async () => {
  await sql("select 'secret-result' as a, nonsense")
  const text = JSON.stringify(lines)
  for (const word of [password, 'secret-result', 'nonsense']) expect(text).not.toContain(word)
})

describe('saved queries', () => {
  const own = { authorization: 'Bearer own-key' }
  const at = (name: string) => `/v1/queries/${encodeURIComponent(name)}`

  it('are shared within an organisation, and nobody undoes what another one saved meanwhile', async () => {
    const first = await send('PUT', at('sales, by day'), { query: 'select 1', about: 'one' }, own)
    expect([first.status, first.body]).toEqual([
      200,
      expect.objectContaining({
        name: 'sales, by day',
        query: 'select 1',
        about: 'one',
        version: 1,
        saved_by: 'k-own',
      }),
    ])
    expect((await send('PUT', at('sales, by day'), { query: 'select 2' }, own)).status).toBe(409)
    const second = await send('PUT', at('sales, by day'), { query: 'select 2', version: 1 }, own)
    expect(second.body).toMatchObject({ version: 2, about: null })
    const late = await send('PUT', at('sales, by day'), { query: 'select 3', version: 1 }, own)
    expect([late.status, late.body.message]).toEqual([409, expect.stringContaining('k-own has saved this')])
    expect((await send('GET', '/v1/queries', undefined, own)).body.queries).toMatchObject([{ query: 'select 2' }])
  })

  it('are seen and deleted by nobody else', async () => {
    const stranger = { authorization: 'Bearer other-key' }
    await send('PUT', at('mine'), { query: 'select 1' }, own)
    expect((await send('GET', '/v1/queries', undefined, stranger)).body.queries).toEqual([])
    expect((await send('DELETE', at('mine'), undefined, stranger)).status).toBe(404)
    expect((await send('DELETE', at('mine'), undefined, own)).body).toEqual({ name: 'mine' })
    expect((await send('DELETE', at('mine'), undefined, own)).status).toBe(404)
    expect((await send('GET', '/v1/queries', undefined, { authorization: 'Bearer narrow-key' })).status).toBe(403)
  })

  it('have bounds: names, lengths, and how many there are', async () => {
    for (const name of [' x', 'a\nb', 'x'.repeat(61)])
      expect((await send('PUT', at(name), { query: 'select 1' }, own)).status, name).toBe(400)
    expect((await send('PUT', at('x'), { query: 'x'.repeat(20_001) }, own)).status).toBe(400)
    await pool.query(
      `insert into query.saved_queries (org_id, name, query, saved_by)
      select $1, 'q' || n, 'select 1', 'k' from generate_series(1, 99) n`,
      [org],
    )
    const full = await send('PUT', at('one more'), { query: 'select 1' }, own)
    expect([full.status, full.body.message]).toEqual([409, expect.stringContaining('100 saved queries')])
  })
})
