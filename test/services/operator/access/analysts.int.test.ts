import { pino } from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { migrate } from '#ledger/migrate.js'
import { createOrg } from '#ledger/organisations.js'
import { type ClickHouse, createClickHouse } from '#platform/clickhouse.js'
import { createPool } from '#platform/postgres/postgres.js'
import { catalogue } from '#schemas/catalogue.js'
import { createAnalystSql, dropAnalystSql } from '#schemas/derive/analysts.js'
import { oneServer } from '#schemas/derive/clickhouse/placement.js'
import { createFreshDatabase } from '../../../support/fresh-database.js'
import { makeTables } from '../../../support/make-tables.js'
import { runWeir } from '../../../support/run-weir.js'
import { sharedParts } from '../../../support/shared-parts.js'

const { POSTGRES_URL, CLICKHOUSE_URL } = sharedParts
let database: Awaited<ReturnType<typeof createFreshDatabase>>
let clickhouse: ClickHouse
let hasUsers: boolean

const weir = (...words: string[]) => runWeir(['analysts', ...words], { POSTGRES_URL: database.url, CLICKHOUSE_URL })

beforeAll(async () => {
  database = await createFreshDatabase(POSTGRES_URL)
  await migrate(database.url)
  const pool = createPool(database.url, pino({ level: 'silent' }), 1)
  for (const org of ['acme', 'other']) await createOrg(pool, org)
  await pool.end()
  clickhouse = createClickHouse(CLICKHOUSE_URL)
  await makeTables(clickhouse)
  hasUsers = process.env.WEIR_TEST_STACK === 'docker'
})

afterAll(async () => {
  await clickhouse?.close()
  await database?.drop()
})

it('writes SQL that ClickHouse understands', async () => {
  const hash = 'ab'.repeat(32)
  const statements = [
    ...createAnalystSql(catalogue, 'acme-2', hash),
    ...dropAnalystSql(catalogue, 'acme-2'),
    // Its other statements are like those of the first.
    ...createAnalystSql(catalogue, 'acme-2', hash, oneServer, true).slice(0, 3),
  ]
  for (const statement of statements) {
    expect((await clickhouse.query(`explain ast ${statement}`)).length, statement).toBeGreaterThan(0)
  }
})

it('prints that SQL for somebody else to run, with no password in it', async () => {
  const { stdout, exitCode } = await weir('create', '--org', 'acme', '--print', '--json')
  expect(exitCode).toBe(0)
  const { user, password, org, sql } = JSON.parse(stdout) as Record<string, string>
  expect([user, org]).toEqual(['analyst_acme', 'acme'])
  expect(password).toMatch(/^[0-9A-Za-z]{32}$/)
  expect(sql).not.toContain(password)
  const plain = await weir('create', '--org', 'acme', '--print')
  expect(plain.stdout).toMatch(/^create user `analyst_acme` .*;$/m)
  expect(plain.stderr).toContain('it will not be shown again')
})

it('refuses an organisation that is not there', async () => {
  const { stderr, exitCode } = await weir('create', '--org', 'nobody')
  expect([exitCode, stderr]).toEqual([
    1,
    'weir: there is no organisation nobody: "npm run -s weir -- orgs list" shows those there are',
  ])
})

it('makes a user who sees one organisation only, on a server and on the embedded engine', async () => {
  await clickhouse.command(`insert into weir.tags_log (org_id, tag_id, name) values
    ('acme', generateUUIDv4(), 'ours'), ('other', generateUUIDv4(), 'theirs')`)
  const { stdout, stderr } = await weir('create', '--org', 'acme', '--json')
  // The embedded engine of the tests has a user without a password.
  expect(stderr).toBe(
    hasUsers
      ? ''
      : 'The user default still reads the rows of every organisation without a password: set CLICKHOUSE_PASSWORD.',
  )
  const { user, password } = JSON.parse(stdout) as { user: string; password: string }
  const address = Object.assign(new URL(CLICKHOUSE_URL), { username: user, password })
  const analyst = createClickHouse(address.href)
  try {
    for (const from of ['weir.tags', 'weir.tags_log']) {
      expect(await analyst.query(`select distinct org_id from ${from}`), from).toEqual([{ org_id: 'acme' }])
    }
    await expect(analyst.command(`insert into weir.tags_log (org_id) values ('acme')`)).rejects.toThrow()
    await expect(analyst.query('select * from system.users')).rejects.toThrow()
    expect((await weir('create', '--org', 'acme')).stderr).toContain('analysts drop --org acme" takes')
    const everybody = `select distinct org_id from weir.tags where org_id in ('acme', 'other') order by org_id`
    expect(await clickhouse.query(everybody)).toEqual([{ org_id: 'acme' }, { org_id: 'other' }])
  } finally {
    await analyst.close()
    expect((await weir('drop', '--org', 'acme')).exitCode).toBe(0)
  }
  expect((await weir('list', '--json')).stdout).not.toContain('analyst_acme')
})
