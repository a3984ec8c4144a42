import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { listSegmentVersions } from '#ledger/analytics/segments.js'
import { listAudit } from '#ledger/audit.js'
import { migrate } from '#ledger/migrate.js'
import { createOrg } from '#ledger/organisations.js'
import { createClickHouse } from '#platform/clickhouse.js'
import { createPool } from '#platform/postgres/postgres.js'
import { copySegments } from '../../../../services/operator/segments/copy.js'
import { createSegmentKeeper } from '../../../../services/sink/keep-segments.js'
import { fill, people, smallWorld } from '../../../schemas/marts/small-world.js'
import { createFreshDatabase } from '../../../support/fresh-database.js'
import { makeTables } from '../../../support/make-tables.js'
import { runWeir } from '../../../support/run-weir.js'
import { sharedParts } from '../../../support/shared-parts.js'

const clickhouse = createClickHouse(sharedParts.CLICKHOUSE_URL)
const keeper = createSegmentKeeper(clickhouse)
let database: Awaited<ReturnType<typeof createFreshDatabase>>
let pool: ReturnType<typeof createPool>

// Organisations have ids of their own in each run: tests share ClickHouse.
const newOrg = async (): Promise<string> => {
  const org = randomUUID()
  await createOrg(pool, org)
  const { customers = [], transactions = [], tags = [], 'shop-tags': shopTags = [] } = smallWorld
  await fill(clickhouse, org, { customers, transactions, tags, 'shop-tags': shopTags })
  return org
}

beforeAll(async () => {
  database = await createFreshDatabase(sharedParts.POSTGRES_URL)
  await migrate(database.url)
  pool = createPool(database.url, pino({ level: 'silent' }), 2)
  await makeTables(clickhouse)
})

afterAll(async () => {
  await clickhouse.close()
  await pool?.end()
  await database?.drop()
})

const segments = (...words: string[]) =>
  runWeir(['segments', ...words], { POSTGRES_URL: database.url, CLICKHOUSE_URL: sharedParts.CLICKHOUSE_URL })
const create = (org: string, name: string, where: string, ...more: string[]) =>
  segments('create', '--org', org, '--name', name, '--where', where, ...more)

const dueOf = async (org: string) => (await keeper.due()).filter((own) => own.org === org)
const findAll = async (org: string) => {
  for (const own of await dueOf(org)) await keeper.findMembers(own)
}
const now = async () =>
  (await clickhouse.query<{ at: string }>("select toString(now64(3, 'UTC')) as at"))[0]?.at ?? expect.fail('no time')
const membersAt = async (org: string, name: string, at: string) =>
  (
    await clickhouse.query<{ customer_id: string }>(
      'select customer_id from weir.segment_members(name = {name:String}, at = {at:String}) where org_id = {org:String} order by customer_id',
      { org, name, at },
    )
  ).map(({ customer_id }) => customer_id)
const sizesOf = async (org: string, version: 'own' | 'named' = 'own') =>
  (
    await clickhouse.query<{ segment: string; members: number }>(
      `select segment, toFloat64(members) as members from weir.segment_sizes
      where org_id = {org:String} and ${version === 'own' ? 'version > 0' : 'version = 0'} order by segment`,
      { org },
    )
  ).map(({ segment, members }) => `${segment} ${members}`)

it('is checked, stored and told to ClickHouse, and its members are found', async () => {
  const [org, other] = [await newOrg(), await newOrg()]
  const made = await create(org, 'readers', "has(tags, 'study') and amount > 10", '--about', 'who reads')
  expect(made).toMatchObject({ stdout: 'readers, version 1: 1 customer now', exitCode: 0 })
  expect((await create(org, 'idle', 'transactions = 0', '--json')).stdout).toBe(
    JSON.stringify({ org, segment: 'idle', version: 1, condition: 'transactions = 0', members: 1 }),
  )
  await findAll(org)
  const at = await now()
  expect(await membersAt(org, 'readers', at)).toEqual([people.ann])
  expect(await membersAt(org, 'idle', at)).toEqual([people.cy])
  expect(await membersAt(other, 'readers', at)).toEqual([])
  expect(await membersAt(org, 'readers', '2026-01-01 00:00:00')).toEqual([])
  expect(await sizesOf(org)).toEqual(['idle 1', 'readers 1'])
  expect(await dueOf(org)).toEqual([])
  // What a customer who is in it has bought by then, and nothing of one who has bought nothing.
  const figures = await clickhouse.query(
    `select segment, frequency, toString(monetary) as monetary, m from weir.segment_members(name = 'idle', at = {at:String}) where org_id = {org:String}`,
    { at, org },
  )
  expect(figures).toEqual([{ segment: 'idle', frequency: 0, monetary: '0', m: 0 }])
  const own = await clickhouse.query(
    'select segment, version, about from weir.own_segments where org_id = {org:String}',
    {
      org,
    },
  )
  expect(own).toContainEqual({ segment: 'readers', version: 1, about: 'who reads' })
  const audit = await listAudit(pool, org, { most: 10 })
  expect(audit.map(({ action, subject }) => `${action} ${subject}`)).toEqual([
    'segment_set idle',
    'segment_set readers',
  ])
})

it('follows its customers and its condition, and remembers who was in it before', async () => {
  const org = await newOrg()
  await create(org, 'some', 'transactions > 0')
  await findAll(org)
  const first = await now()

  // Nothing changes where it is set to the same.
  expect((await create(org, 'some', 'transactions>0')).stdout).toContain('version 1')
  expect(await dueOf(org)).toEqual([])
  expect((await create(org, 'some', 'transactions = 0')).stdout).toBe('some, version 2: 1 customer now')
  await findAll(org)
  const second = await now()
  await fill(clickhouse, org, {
    customers: [{ customer_id: people.cy, user_id: people.cy, region: 'GB', version: 7, is_deleted: true }],
  })
  for (const own of await keeper.due()) expect(own.org).not.toBe(org)
  await keeper.findMembers({ org, segment: 'some', version: 2, condition: 'transactions = 0', isDropped: false })
  const third = await now()

  expect(await membersAt(org, 'some', first)).toEqual([people.ann, people.bob])
  expect(await membersAt(org, 'some', second)).toEqual([people.cy])
  expect(await membersAt(org, 'some', third)).toEqual([])
  const { stdout } = await segments('show', '--org', org, '--name', 'some', '--json')
  expect(JSON.parse(stdout)).toMatchObject([
    { version: 1, condition: 'transactions > 0', dropped_at: null },
    { version: 2, condition: 'transactions = 0', dropped_at: null },
  ])

  await create(org, 'some', 'true')
  await findAll(org)
  const fourth = await now()
  expect((await segments('drop', '--org', org, '--name', 'some')).stdout).toBe('some is dropped')
  expect((await segments('drop', '--org', org, '--name', 'some')).stdout).toBe('some was dropped already')
  await findAll(org)
  expect(await membersAt(org, 'some', fourth)).toEqual([people.ann, people.bob])
  expect(await membersAt(org, 'some', await now())).toEqual([])
  expect(await dueOf(org)).toEqual([])
  expect((await segments('list', '--org', org)).stderr).toContain('no own segments of')

  expect((await create(org, 'some', "region = 'GB'")).stdout).toContain('version 4')
  await findAll(org)
  expect(await membersAt(org, 'some', await now())).toEqual([people.ann, people.bob])
})

it('shows a customer once, also where two sinks find the members at the same time, and loses nobody who was half noted', async () => {
  const org = await newOrg()
  await create(org, 'all', 'true')
  const [own] = await dueOf(org)
  if (!own) return expect.fail('nothing is due')
  await Promise.all([keeper.findMembers(own), keeper.findMembers(own)])
  expect(await membersAt(org, 'all', await now())).toEqual([people.ann, people.bob, people.cy])
  expect(await sizesOf(org)).toEqual(['all 3'])
  await keeper.findMembers({ ...own, condition: `customer_id = '${people.ann}'` })
  expect(await membersAt(org, 'all', await now())).toEqual([people.ann])
})

it('is due again on the next day', async () => {
  const org = await newOrg()
  await create(org, 'all', 'true')
  await clickhouse.command(
    `insert into weir.segment_sizes_log (org_id, segment, version, at, members) values ('${org}', 'all', 1, now64(3) - interval 1 day, 3)`,
  )
  expect(await dueOf(org)).toMatchObject([{ segment: 'all', version: 1, condition: 'true', isDropped: false }])
})

it('comes back to a ClickHouse that has lost it, from Postgres', async () => {
  const org = await newOrg()
  await create(org, 'all', 'true')
  await clickhouse.command(`delete from weir.own_segments_log where org_id = '${org}'`)
  expect(await dueOf(org)).toEqual([])
  await copySegments(clickhouse, await listSegmentVersions(pool))
  await copySegments(clickhouse, await listSegmentVersions(pool))
  expect(await dueOf(org)).toHaveLength(1)
  expect(await clickhouse.query(`select count() as rows from weir.own_segments_log where org_id = '${org}'`)).toEqual([
    { rows: 1 },
  ])
})

it('counts the segments that Weir names once a day, also those that nobody is in', async () => {
  const org = await newOrg()
  await keeper.countNamed()
  await keeper.countNamed()
  const expected = ['at risk 1', 'champions 0', 'fading 1', 'lost 0', 'loyal 0', 'new 0', 'promising 0']
  const sizes = await sizesOf(org, 'named')
  expect(sizes.map((each) => each.replace(/ \d+$/, ''))).toEqual(expected.map((each) => each.replace(/ \d+$/, '')))
  expect(sizes.reduce((sum, each) => sum + Number(/\d+$/.exec(each)?.[0]), 0)).toBe(2)
  const rows = await clickhouse.query(`select count() as rows from weir.segment_sizes_log where org_id = '${org}'`)
  expect(rows).toEqual([{ rows: 7 }])
})

let refusedOf: string | undefined

it.each([
  ['x', 'amount > ', 'ClickHouse cannot use this condition'],
  ['x', "amount = 'much'", 'ClickHouse cannot use this condition'],
  ['x', 'tags', 'ClickHouse cannot use this condition'],
  ['x', "customer_id = 'nobody'", 'ClickHouse cannot use this condition'],
  ['x', "org_id = 'other'", 'a condition cannot have org_id in it'],
  ['x', 'amuont > 5', 'did you mean amount?'],
  ['loyal', 'true', "one of Weir's own segments"],
  ['Big', 'true', 'cannot be a segment'],
  ["a'b", 'true', 'cannot be a segment'],
])('refuses %s with %s: %s', async (name, where, reason) => {
  refusedOf ??= await newOrg()
  const org = refusedOf
  const { stdout, stderr, exitCode } = await create(org, name, where)
  expect([stdout, exitCode]).toEqual(['', 1])
  expect(stderr).toContain(reason)
  expect(await listSegmentVersions(pool, { org, segment: name })).toEqual([])
})

it('stores nothing in a dry run, nor for an organisation that is not there', async () => {
  const org = await newOrg()
  expect((await create(org, 'all', 'true', '--dry-run')).stdout).toBe('all: 3 customers now; nothing was stored')
  expect(await listSegmentVersions(pool, { org, segment: 'all' })).toEqual([])
  expect((await create('nobody', 'all', 'true')).stderr).toContain('there is no organisation nobody')
  expect((await segments('drop', '--org', org, '--name', 'all')).stderr).toContain('has no own segment "all"')
})
