import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOrg } from '#ledger/organisations.js'
import { createClickHouse } from '#platform/clickhouse.js'
import { createClickHouseAs } from '#platform/clickhouse-as.js'
import { createAskAnalyst } from '#query/sql/ask-analyst.js'
import { catalogue } from '#schemas/catalogue.js'
import { keptMarts } from '#schemas/derive/clickhouse/kept.js'
import { addSaltSql } from '#schemas/derive/clickhouse/masked.js'
import { maskedViewsOf } from '#schemas/derive/clickhouse/relations.js'
import { asOfViewOf } from '#schemas/derive/names.js'
import { marts } from '#schemas/marts/all.js'
import { exampleOf } from '#schemas/marts/mart.js'
import { createMartKeeper } from '../../../../services/sink/keep-marts.js'
import { fill, people, shops, smallWorld, users } from '../../../schemas/marts/small-world.js'
import { makeTables } from '../../../support/make-tables.js'
import { openMigratedDatabase } from '../../../support/migrated-database.js'
import { runWeir } from '../../../support/run-weir.js'
import { sharedParts } from '../../../support/shared-parts.js'

// A masked analyst, whom "weir analysts create --masked" made: whatever is asked, it sees no id of a person, nothing personal, and no
// row of another organisation.

const { CLICKHOUSE_URL } = sharedParts
const { pool, url: POSTGRES_URL } = await openMigratedDatabase(2)
const [org, other] = [`o-${randomUUID().slice(0, 8)}`, `p-${randomUUID().slice(0, 8)}`]
const clickhouse = createClickHouse(CLICKHOUSE_URL)
const forAnalysts = createClickHouseAs(CLICKHOUSE_URL, { requestTimeout: 60_000, maxConnections: 4 })
const askAnalyst = createAskAnalyst(forAnalysts, { isCluster: false })
const weir = (...words: string[]) => runWeir(['analysts', ...words], { POSTGRES_URL, CLICKHOUSE_URL })
let password: string
let analyst: ReturnType<typeof createClickHouse>

type Row = Record<string, unknown>
const ask = (sql: string, settings: Record<string, string | number> = {}): Promise<Row[]> =>
  analyst.query<Row>(sql, {}, settings)

// Of one person, and of nothing else in this world.
const personal = {
  ...{ region: 'ZW', gender: 'gender-of-ann', birthdate: '1971-07-07', city: 'city-of-ann', country: 'QX' },
  ...{ institute_id: randomUUID(), course_id: randomUUID() },
}
const asText = 'a user by text'
const { ann, bob } = people
const ids = [...Object.values(people), ...Object.values(users), asText]
/** Those of the secrets that stand in what was answered. */
const seenIn = (answer: unknown, secrets: readonly string[] = [...ids, ...Object.values(personal)]): string[] => {
  const text = JSON.stringify(answer).toLowerCase()
  return secrets.filter((secret) => text.includes(secret.toLowerCase()))
}

beforeAll(async () => {
  await makeTables(clickhouse)
  for (const each of [org, other]) {
    await createOrg(pool, each)
    await fill(clickhouse, each, {
      ...smallWorld,
      customers: [...(smallWorld.customers ?? []), { customer_id: ann, user_id: users.ann, ...personal, version: 3 }],
      interactions: [
        ...(smallWorld.interactions ?? []),
        {
          ...{ interaction_id: randomUUID(), interaction_type: 'SHARE', item_type: 'SHOP', item_id: shops.books },
          ...{ event_timestamp: '2026-03-01 12:00:00', recorded_at: '2026-03-01 12:00:00' },
          ...{ user_id: asText, city: personal.city, country: personal.country },
        },
      ],
    })
    const [request, batch] = [randomUUID(), randomUUID()]
    for (const insert of [
      `rejections_log values ('${each}', '${request}', '${batch}', now64(3), 1, 'customers', 0, '${ann}',
        [('${asText}', 'unknown_field', 'no field ${personal.gender}')], '{"customer_id":"${ann}"}', false)`,
      `waiting_log (org_id, type, id, missing, since, until, batch_id, index, state, version) values ('${each}', 'customers', '${ann}',
        [('student_id', 'customers', '${bob}')], now64(3), now64(3), '${batch}', 0, 'waiting', 1)`,
      `own_segments_log (org_id, segment, version, condition, about, created_at, is_dropped) values ('${each}', 'own', 1,
        'customer_id = toUUID(\\'${ann}\\')', '${personal.gender}', now64(3), false)`,
      `own_members_log (org_id, segment, customer_id, since, until) values ('${each}', 'own', '${ann}', '2020-01-01', '2100-01-01')`,
    ])
      await clickhouse.command(`insert into weir.${insert}`)
  }
  const keeper = createMartKeeper(clickhouse, catalogue, 1)
  for (const mart of keptMarts.filter(({ name }) => name === 'customers_overview'))
    await keeper.keep({ org, mart, isWhole: true })
  await clickhouse.command(addSaltSql(other, [1n, 2n]))
  const made = JSON.parse((await weir('create', '--org', org, '--masked', '--json')).stdout) as Record<string, string>
  expect(made.user).toBe(`analyst_${org}_masked`)
  password = made.password ?? ''
  const address = new URL(CLICKHOUSE_URL)
  analyst = createClickHouse(Object.assign(address, { username: made.user, password, pathname: '/weir_masked' }).href)
})
afterAll(async () => {
  await analyst.close()
  await forAnalysts.close()
  await clickhouse.close()
})

const asked = new Map(marts.map((mart) => [mart.name, exampleOf(mart).replace('weir.', '')]))
const asOf = new Set([...catalogue.all.keys()].map(asOfViewOf))
const exampleFor = (view: string): string => asked.get(view) ?? (asOf.has(view) ? `${view}(at = '2100-01-01')` : view)

const withPersons = [
  ...['customers', 'customers_history', 'customers_as_of', 'transactions', 'student_favourites', 'interactions'],
  ...['customers_overview', 'customer_segments', 'rejections', 'waiting', 'own_segments'],
]
// Sums over persons, in which a value of one may stand for itself.
const sums = ['customers_by_attribute', 'interactions_by_day', 'recommendations', 'recommendation_lift']

describe('a masked analyst', () => {
  it('sees of every view the same columns, its own rows, and nobody in them', async () => {
    const columnsIn = (database: string) =>
      clickhouse.query(
        `select table, groupArray((name, type)) as columns from (
          select table, name, type from system.columns where database = '${database}' order by table, position
        ) where table in ({views:Array(String)}) group by table order by table`,
        { views: maskedViewsOf(catalogue) },
      )
    expect(await columnsIn('weir_masked')).toEqual(await columnsIn('weir'))
    const unmasked = new Set<string>()
    for (const view of maskedViewsOf(catalogue)) {
      const masked = await ask(`select * from ${exampleFor(view)}`)
      expect([...new Set(masked.map(({ org_id }) => org_id))], view).toEqual(masked.length > 0 ? [org] : [])
      expect(seenIn(masked, sums.includes(view) ? ids : undefined), view).toEqual([])
      if (!withPersons.includes(view)) continue
      const rows = await clickhouse.query<Row>(`select * from weir.${exampleFor(view)} where org_id = '${org}'`)
      expect(masked.length, view).toBe(rows.length)
      for (const secret of seenIn(rows)) unmasked.add(secret)
    }
    // Otherwise nothing of this would have been tried.
    expect([...unmasked].sort()).toEqual([...ids, ...Object.values(personal)].sort())
  })

  it('counts and joins persons as others do, by pseudonyms that are of its organisation alone', async () => {
    for (const figure of [
      'uniqExact(customer_id), uniqExact(user_id) from DB.customers where',
      'uniqExact(student_id), countIf(student_id is null) from DB.transactions where',
      'count(), uniqExact(t.student_id) from DB.transactions as t join DB.customers as c on t.student_id = c.customer_id and t.org_id = c.org_id where c.',
      "count() from DB.interactions as i join DB.customers as c on toUUIDOrZero(ifNull(i.user_id, '')) = c.user_id and i.org_id = c.org_id where c.",
      'groupArray(amount) from (select * from DB.customers_overview order by amount) where',
    ]) {
      const sql = `select ${figure} org_id = '${org}'`.replace('. org_id', '.org_id')
      expect(await ask(sql.replaceAll('DB', 'weir_masked')), sql).toEqual(
        await clickhouse.query(sql.replaceAll('DB', 'weir')),
      )
    }
    for (const settings of [{}, { prefer_column_name_to_alias: 1, enable_positional_arguments: 0 }])
      for (const view of ['customers', 'customers_overview', 'customer_segments'])
        expect(
          // The order of the real ids would tell whoever has all of them which pseudonym is whose.
          await ask(
            `select groupArray(customer_id) = arraySort(groupArray(customer_id)) as sorted from ${view}`,
            settings,
          ),
        ).toEqual([{ sorted: 1 }])
    const pseudonyms = () => ask('select customer_id from customers order by all')
    const before = await pseudonyms()
    await clickhouse.command(addSaltSql(org, [1n, 2n]))
    expect(await pseudonyms()).toEqual(before)
    const theirs = await clickhouse.query(`select customer_id from weir_masked.customers where org_id = '${other}'`)
    expect(theirs.length).toBe(before.length)
    expect(before.filter((each) => JSON.stringify(theirs).includes(String(each.customer_id)))).toEqual([])
  })

  it.each([
    'select * from weir.customers',
    'select * from weir.customers_log',
    'select * from weir.customers_current final',
    'select * from weir.customers_overview_kept',
    'select * from weir.customers_overview_not_kept_if_any',
    'select * from weir.own_members_log',
    'select * from weir.mask_salts',
    "select * from weir.customers_as_of(at = '2100-01-01')",
    "select * from merge('weir', '^customers')",
    'select * from view(select * from weir.customers)',
    'select * from loop(weir.customers_log) limit 1',
    "select * from mergeTreeIndex('weir', 'customers_log')",
    'select count() from customers where customer_id in (select customer_id from weir.customers)',
    'select count() from customers where customer_id in weir.customers_current',
    'select (select any(birthdate) from weir.customers) from customers',
    'select * from customers as a join weir.customers as b using (org_id)',
    'with x as (select * from weir.customers) select * from x',
    "select dictGet('weir.customers', 'birthdate', 1)",
    "select joinGet('weir.customers_log', 'birthdate', 1)",
    "select hasColumnInTable('weir', 'customers', 'birthdate')",
    'show create table weir.customers',
    'describe table weir.customers',
    'explain select * from weir.customers',
    'execute as default select * from weir.customers',
    'select * from system.query_log',
    'select * from system.users',
    'insert into weir.mask_salts (org_id) values (1)',
    'create view weir_masked.mine as select 1',
    `select count() from customers settings additional_table_filters = {'weir.customers_current': 'birthdate = \\'${personal.birthdate}\\''}`,
    "select count() from customers settings additional_result_filter = '1'",
    "select count() from customers settings parallel_replicas_custom_key = '1'",
  ])('cannot ask %s', async (sql) => {
    const { message } = await ask(sql).then(
      (rows) => ({ message: `it answered ${JSON.stringify(rows)}` }),
      (error: Error) => error,
    )
    expect(message).not.toContain('it answered')
    expect(seenIn(message.replace(personal.birthdate, ''))).toEqual([])
  })

  it('cannot find out by conditions whom or what a row is about', async () => {
    for (const condition of [
      `customer_id = '${ann}'`,
      `user_id = '${users.ann}'`,
      ...['region', 'gender', 'birthdate', 'institute_id', 'course_id'].map(
        (field) => `${field} = '${personal[field as keyof typeof personal]}'`,
      ),
      'birthdate is not null',
      "customer_id = reinterpretAsUUID(sipHash128ReferenceKeyed((toUInt64(0), toUInt64(0)), 'customer', '".concat(
        ann,
        "'))",
      ),
      `org_id != '${org}'`,
    ])
      expect(await ask(`select toUInt32(count()) as n from customers where ${condition}`), condition).toEqual([
        { n: 0 },
      ])
    const filters = `{'weir.customers_current': 'birthdate = \\'${personal.birthdate}\\''}`
    await expect(ask('select count() from customers', { additional_table_filters: filters })).rejects.toThrow()
    expect(await ask("select * from segment_members(name = 'own', at = '2026-03-01')")).toEqual([])
  })

  it.each<Record<string, number | string>>([
    { allow_experimental_analyzer: 0 },
    { prefer_column_name_to_alias: 1 },
    { join_use_nulls: 1, join_algorithm: 'full_sorting_merge' },
    { join_overflow_mode: 'break', max_rows_in_join: 1 },
    { transform_null_in: 1, final: 1, extremes: 1 },
  ])('sees nobody with %j either', async (settings) => {
    for (const view of ['customers', 'interactions']) {
      const rows = await ask(`select * from ${view}`, settings)
      expect([new Set(rows.map(({ org_id }) => org_id)).size < 2, seenIn(rows)], view).toEqual([true, []])
    }
  })

  it('finds nothing of tables, ids or the secret in what ClickHouse tells of itself', async () => {
    const salts = await clickhouse.query<{ k: string[] }>(
      `select [toString(k0), toString(k1)] as k from weir.mask_salts where org_id = '${org}'`,
    )
    const secrets = [...ids, ...Object.values(personal), ...salts.flatMap(({ k }) => k)]
    expect(salts).toHaveLength(1)
    for (const sql of [
      'show create view weir_masked.customers',
      'select * from system.tables',
      'select * from system.columns',
      'select * from system.databases',
      'select * from information_schema.tables',
      ...withPersons.map(
        (view) =>
          `explain pipeline select * from ${exampleFor(view)} settings split_intersecting_parts_ranges_into_layers_final = 1`,
      ),
      'explain actions = 1, indexes = 1, sorting = 1 select * from customers',
      'explain query tree select * from customers_overview',
      "explain pipeline graph = 1 select * from customers where toString(customer_id) like 'a%'",
    ]) {
      const rows = await ask(sql)
      expect(rows.length, sql).toBeGreaterThan(0)
      expect(seenIn(rows, secrets), sql).toEqual([])
    }
    for (const table of ['tables', 'columns'])
      expect(await ask(`select name from system.${table} where database = 'weir'`)).toEqual([])
    for (const wrong of [
      "throwIf(toString(customer_id) != '')",
      'toUInt8(toString(user_id))',
      'toDate(toString(customer_id))',
    ]) {
      const error = await ask(`select ${wrong} from customers`).then(
        () => new Error('no error'),
        (thrown: Error) => thrown,
      )
      expect(error.message, wrong).not.toBe('no error')
      expect(seenIn(error.message, secrets), wrong).toEqual([])
    }
  })

  it('asks by HTTP with its password alone, by the names without the database', async () => {
    const { stream } = await askAnalyst({
      ...{ orgId: org, password, query: "select count() as n, countIf(region = 'ZW') as there from customers" },
      ...{ format: 'CSVWithNames', limit: 10, seconds: 10, signal: new AbortController().signal },
    })
    expect(Buffer.concat(await stream.toArray()).toString()).toBe('"n","there"\n3,0\n')
  })

  it('is listed beside others, and let in no more once it is dropped', async () => {
    expect(JSON.parse((await weir('list', '--json')).stdout)).toContainEqual({
      ...{ user: `analyst_${org}_masked`, org, masked: true },
    })
    expect((await weir('drop', '--org', org, '--masked')).stdout).toBe(`analyst_${org}_masked is gone`)
    await expect(ask('select 1')).rejects.toThrow()
  })
})
