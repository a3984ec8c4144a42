import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createClickHouse } from '#platform/clickhouse.js'
import { packageRoot } from '#platform/process/package-root.js'
import { catalogue } from '#schemas/catalogue.js'
import { provisionTables } from '../../services/operator/provision/tables.js'
import { fillForAnalysts } from '../docs/analysts/world.js'
import { openPythonPackages } from '../docs/python-packages.js'
import { snippetsOf } from '../docs/snippets.js'
import { id, shops } from '../schemas/marts/small-world.js'
import { startClickHouseAlone } from '../support/stack.js'

// The dbt project as its README says, on a ClickHouse of its own: its tests hold in a sound world, and find what is wrong in a broken one.

const readme = snippetsOf('clients/dbt/README.md')
const python = await openPythonPackages(readme)
const folder = await mkdtemp(join(tmpdir(), 'weir-dbt-'))

const parts = await startClickHouseAlone()
const { port, password } = new URL(parts.env.CLICKHOUSE_URL)
const clickhouse = createClickHouse(parts.env.CLICKHOUSE_URL)

beforeAll(async () => {
  await provisionTables(clickhouse, catalogue)
  await fillForAnalysts(clickhouse, 'demo')
  // The same ids mean other records there.
  await fillForAnalysts(clickhouse, 'another')
  const left = new Set(['target', 'logs'])
  const filter = (path: string) => !left.has(path.split('/').at(-1) ?? '')
  await cp(join(packageRoot, 'clients/dbt'), join(folder, 'clients/dbt'), { recursive: true, filter })
  await mkdir(join(folder, '.data'))
  await writeFile(join(folder, '.data/clickhouse-password'), `${password}\n`)
})
afterAll(async () => {
  await clickhouse.close()
  await parts.stop()
  await rm(folder, { recursive: true, force: true })
})

/** What a reader types, in the folder of the clone. */
const type = (commands: string, env: Record<string, string> = {}) =>
  execa('bash', ['-e', '-c', commands], {
    cwd: folder,
    env: { DBT_CLICKHOUSE_PORT: port, ...('env' in python ? python.env : {}), ...env },
    all: true,
    reject: false,
  })
const [install = '', build = ''] = readme.map(({ text }) => text)
const again = `. .venv/bin/activate\n${build}`

it('tests the sources, and makes and tests the models, as its README says', async ({ skip }) => {
  if ('whyNot' in python) skip(python.whyNot)
  const { exitCode, all } = await type(`${install}\n${build}`)
  expect(exitCode, all).toBe(0)
  expect(all).toMatch(/Done\. PASS=\d+ WARN=0 ERROR=0 SKIP=0/)
  const made = await clickhouse.query<{ name: string; engine: string }>(
    "select name, engine from system.tables where database = 'analytics' order by name",
  )
  expect(made).toEqual([
    { name: 'customers_at_risk', engine: 'MergeTree' },
    { name: 'shops_without_buyers', engine: 'View' },
    { name: 'weekly_sales', engine: 'View' },
  ])
  const weeks =
    'select week, shop, toString(amount) as amount from analytics.weekly_sales where org_id = {org:String} order by all'
  expect(await clickhouse.query(weeks, { org: 'demo' })).toContainEqual({
    ...{ week: '2026-02-23', shop: 'Books', amount: '10.3' },
  })
})

it('runs again over what it made', async ({ skip }) => {
  if ('whyNot' in python) skip(python.whyNot)
  const { exitCode, all } = await type(again)
  expect(exitCode, all).toBe(0)
})

it('refuses to make models among the tables of Weir', async ({ skip }) => {
  if ('whyNot' in python) skip(python.whyNot)
  const { exitCode, all } = await type(again, { DBT_CLICKHOUSE_DATABASE: 'weir' })
  expect(exitCode).not.toBe(0)
  expect(all).toContain('models are made in a database of their own, not in weir')
  const ours = "select count() as n from system.tables where database = 'weir' and name = 'weekly_sales'"
  expect(await clickhouse.query(ours)).toEqual([{ n: 0 }])
})

it('finds a reference to a record that does not exist, and none to one that was deleted', async ({ skip }) => {
  if ('whyNot' in python) skip(python.whyNot)
  const offer = {
    org_id: 'demo',
    name: 'O',
    type: 'fixed',
    value: 1,
    region: 'GB',
    version: 1,
    accepted_at: '2026-02-01 00:00:00',
  }
  const add = (row: object) =>
    clickhouse.command(`insert into weir.offers_log format JSONEachRow\n${JSON.stringify({ ...offer, ...row })}`)
  const select = again.replace('dbt build', 'dbt test --select source:weir.offers')
  await add({ offer_id: id(901), shop_id: shops.gone })
  expect((await type(select)).exitCode).toBe(0)
  await add({ offer_id: id(902), shop_id: id(999) })
  const { exitCode, all } = await type(select)
  expect(exitCode).not.toBe(0)
  expect(all).toContain('Failure in test offers_shop_id_names_one_of_shops')
})
