import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClickHouse } from '#platform/clickhouse.js'
import { catalogue } from '#schemas/catalogue.js'
import { marts } from '#schemas/marts/all.js'
import { exampleOf } from '#schemas/marts/mart.js'
import { createMartKeeper } from '../../../../services/sink/keep-marts.js'
import { fill, smallWorld } from '../../../schemas/marts/small-world.js'
import { makeTables } from '../../../support/make-tables.js'
import { isDeep } from '../../../support/sized.js'
import { type RunningEngine, startEngine } from './running-engine.js'

// An analyst of one organisation on the embedded engine: whatever is asked, no row of another one is shown.

let engine: RunningEngine
let folder: string
const password = 'of acme'

const ask = async (sql: string, parameters: Record<string, string> = {}, user = 'analyst_acme', key = password) => {
  const answer = await fetch(`${engine.url}/?${new URLSearchParams(parameters)}`, {
    ...{ method: 'POST', body: sql, headers: { 'X-ClickHouse-User': user, 'X-ClickHouse-Key': key } },
  })
  return { status: answer.status, text: await answer.text() }
}
const manage = (method: string, org: string, more: Record<string, string> = {}) =>
  fetch(`${engine.url}/analysts?${new URLSearchParams({ org, ...more })}`, {
    ...{ method, headers: { Authorization: `Basic ${Buffer.from('weir:secret').toString('base64')}` } },
  })
// Of one mart both are kept, of one this analyst's, of one the other's, of the rest neither.
const kept: Record<string, string[]> = {
  sales_by_day: ['acme', 'other'],
  funnel: ['acme'],
  recommendations: ['other'],
}
// That the others show the same as everybody sees of acme, and so nothing of others, is asked of each below.
const lookedInto = marts.filter(({ name, asked }) => isDeep || asked || name in kept)
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-own-rows-'))
  engine = await startEngine(join(folder, 'clickhouse'))
  const weir = createClickHouse(engine.ownUrl)
  await makeTables(weir)
  for (const org of ['acme', 'other']) await fill(weir, org, smallWorld)
  const keeper = createMartKeeper(weir, catalogue, 1)
  for (const due of await keeper.due(await keeper.large()))
    if (kept[due.mart.name]?.includes(due.org)) await keeper.keep(due)
  await weir.command('create database analytics')
  await weir.command(
    "create table analytics.copied engine = MergeTree order by tuple() as select 'other' as org_id, 1 as n",
  )
  await weir.command("create table weir.loose engine = MergeTree order by tuple() as select 'theirs' as secret")
  await weir.close()
  expect((await manage('PUT', 'acme', { password_sha256: sha256(password) })).status).toBe(201)
})
afterAll(async () => {
  await engine?.kill('SIGTERM')
  await rm(folder, { recursive: true, force: true })
})

describe('an analyst of one organisation', () => {
  it.each([
    'select distinct org_id from weir.shops',
    'select distinct org_id from weir.shops_log',
    'select distinct org_id from weir.shops_current final',
    'select distinct org_id from weir.shops_history',
    "select distinct org_id from weir.shops_as_of(at = '2030-01-01')",
    'select distinct org_id from weir.quality',
    'select distinct org_id from weir.sales_by_day_kept',
    'select distinct org_id from weir.recommendations_kept',
    'select distinct org_id from weir.funnel_not_kept',
    'select distinct org_id from weir.funnel_not_kept_if_any',
    'select distinct org_id from weir.recommendations_not_kept_if_any',
    "select distinct org_id from weir.recommendations_not_kept_if_any where _table like '%'",
    'with x as (select * from weir.shops) select distinct org_id from x',
    'select distinct org_id from view(select * from weir.shops_log)',
    'select distinct (select any(org_id) from weir.shops_log) from weir.shops',
    'select distinct b.org_id from weir.shops as a join weir.shops as b using (shop_id)',
    ...lookedInto.map((mart) => `select distinct org_id from ${exampleOf(mart)} where org_id != 'acme'`),
  ])('sees only its rows: %s', async (sql) => {
    const { status, text } = await ask(sql)
    expect(status, text).toBe(200)
    expect(['acme\n', '']).toContain(text)
  })

  it.each(marts.filter(({ asked }) => !asked))(
    'sees the same figures as everybody sees of it: $name',
    async ({ name, from }) => {
      const own = await ask(`select * from weir.${name} order by all`)
      const everybody = await ask(`select * from weir.${name} where org_id = 'acme' order by all`, {}, 'default', '')
      expect(own).toEqual({ ...everybody, status: 200 })
      if (from.length > 0) expect(own.text).not.toBe('')
    },
  )

  it.each([
    'select * from weir.shops settings additional_table_filters = {}',
    'select * from weir.shops settings `additional_table_filters` = {}',
    'set additional_table_filters = {}',
    "select * from merge('weir', 'shops_log')",
    "select * from mergeTreeIndex('weir', 'shops_log')",
    'select * from loop(weir.shops_log) limit 1',
    'select query from system.processes',
    'select * from `system`.`query_log`',
    'show processlist',
    "select * from weir.shops settings profile = 'default'",
    'select 1 settings use_query_cache = 1',
    'select 1 settings max_memory_usage = 0',
    'select 1 settings max_execution_time = 1000',
    "insert into weir.tags_log (org_id) values ('acme')",
    'drop table weir.shops_log',
    "select * from file('/etc/passwd')",
  ])('cannot %s', async (sql) => {
    const { status, text } = await ask(sql)
    expect([status >= 400, text]).toEqual([true, expect.stringMatching(/^Code: \d+\. DB::Exception: /)])
  })

  it.each([{ additional_table_filters: '{}' }, { database: 'system' }])('cannot ask with %j', async (parameters) => {
    expect((await ask('select 1', parameters as Record<string, string>)).status).toBeGreaterThanOrEqual(400)
  })

  it('sees nothing of tables that are of no organisation, or of another database', async () => {
    expect(await ask('select count() from analytics.copied')).toEqual({ status: 200, text: '0\n' })
    expect(await ask('select count() from weir.loose')).toEqual({ status: 200, text: '0\n' })
  })

  it('is refused under the own name', async () => {
    const { text } = await ask('drop table weir.shops_log')
    expect(text).toContain('DB::Exception: analyst_acme: Cannot execute query in readonly mode')
  })

  it('may look up tables and columns, as tools do', async () => {
    const { text } = await ask("select name from system.tables where database = 'weir' and name = 'shops'")
    expect(text).toBe('shops\n')
  })

  it('needs its password, and manages no others', async () => {
    expect((await ask('select 1', {}, 'analyst_acme', 'wrong')).status).toBe(403)
    expect((await ask('select 1', {}, 'analyst_other', password)).status).toBe(403)
    const tried = await fetch(`${engine.url}/analysts?org=other&password_sha256=${sha256('x')}`, {
      ...{ method: 'PUT', headers: { 'X-ClickHouse-User': 'analyst_acme', 'X-ClickHouse-Key': password } },
    })
    expect(tried.status).toBe(403)
  })
})

it('keeps analysts in a file that only its owner reads, without passwords, and forgets one who is dropped', async () => {
  const file = join(folder, 'clickhouse', 'analysts.json')
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(await readFile(file, 'utf8')).not.toContain(password)
  expect((await manage('PUT', 'acme', { password_sha256: sha256('again') })).status).toBe(409)
  expect((await manage('PUT', 'b', { password_sha256: sha256('b') })).status).toBe(201)
  expect(await (await manage('GET', '')).json()).toEqual([
    { user: 'analyst_acme', org: 'acme', masked: false },
    { user: 'analyst_b', org: 'b', masked: false },
  ])
  await manage('DELETE', 'b')
  expect((await ask('select 1', {}, 'analyst_b', 'b')).status).toBe(403)
})
