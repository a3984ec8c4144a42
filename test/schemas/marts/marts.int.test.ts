import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createClickHouse } from '#platform/clickhouse.js'
import { marts } from '#schemas/marts/all.js'
import { exampleOf } from '#schemas/marts/mart.js'
import { makeTables } from '../../support/make-tables.js'
import { sharedParts } from '../../support/shared-parts.js'
import { branches, fill, id, offers, people, recommended, shops, smallWorld, users } from './small-world.js'

const clickhouse = createClickHouse(sharedParts.CLICKHOUSE_URL)
const [org, other, ten] = [randomUUID(), randomUUID(), randomUUID()]

beforeAll(async () => {
  await makeTables(clickhouse)
  await fill(clickhouse, org, smallWorld)
  // The same ids mean other records there: where two organisations are not kept apart, the figures are wrong.
  const dearer = smallWorld.transactions?.map((row) => ({ ...row, amount: 1000, student_id: people.cy }))
  await fill(clickhouse, other, { ...smallWorld, transactions: dearer ?? [] })
})
afterAll(() => clickhouse.close())

/** Rows as tuples of these columns, in the order of them. */
const rowsOf = async (from: string, columns: string, of = org): Promise<unknown[]> => {
  const rows = await clickhouse.query<Record<string, unknown>>(
    `select ${columns} from weir.${from} where org_id = {of:String} order by all`,
    { of },
  )
  return rows.map((row) => Object.values(row))
}

it.each(marts)('shows $name with the columns that it declares', async (mart) => {
  const from = exampleOf(mart)
  const found = await clickhouse.query<{ name: string; type: string }>(`describe (select * from ${from})`)
  expect(found.map((each) => [each.name, each.type])).toEqual(
    Object.entries(mart.columns).map(([column, { type }]) => [column, type]),
  )
  expect(await clickhouse.query(`select * from ${from} where org_id = 'nobody'`)).toEqual([])
})

it('sums sales to the cent, with the newest version of each transaction, without deleted ones', async () => {
  const columns =
    'day, shop_id, region, branch_id, source, transactions, toString(amount), toString(savings), customers'
  expect(await rowsOf('sales_by_day', columns)).toEqual([
    ['2026-02-10', shops.books, 'GB', branches.side, 'in-store', 1, '0.1', '0.02', 1],
    ['2026-02-11', shops.books, 'GB', null, null, 1, '1', '0', 1],
    ['2026-03-01', shops.books, 'GB', branches.main, 'online', 2, '10.3', '1.05', 1],
    ['2026-03-02', shops.cafe, 'GB', null, null, 1, '5', '0.5', 1],
    ['2026-03-05', shops.cafe, 'FR', null, null, 1, '3.3', '0', 0],
    ['2026-04-01', shops.cafe, 'GB', null, null, 1, '2.5', '0', 1],
  ])
})

it('follows those who first bought in a month', async () => {
  const columns = 'cohort, month, customers, active, retention, transactions, toString(amount)'
  expect(await rowsOf('cohorts', columns)).toEqual([
    ['2026-02-01', 0, 2, 2, 1, 2, '1.1'],
    ['2026-02-01', 2, 2, 1, 0.5, 1, '2.5'],
    ['2026-03-01', 0, 1, 1, 1, 3, '15.3'],
  ])
})

it('counts how offers are seen and used', async () => {
  const columns =
    'offer_id, views, interactions, uses, customers, toString(amount), toString(savings), share_of_sales, ' +
    'eligible_branches, branches_used, share_of_eligible, toString(first_used_at), toString(last_used_at)'
  const at = '2026-03-01 23:59:59.999'
  expect(await rowsOf('offers_used', columns)).toEqual([
    [offers.tenth, 1, 1, 1, 1, '10.1', '1.05', 0.25, 1, 1, 1, at, at],
    [offers.cup, 1, 1, 0, 0, '0', '0', 0, 0, 0, null, null, null],
  ])
})

it('shows a shop with what it has and what it sold', async () => {
  const columns =
    'name, is_public, branches, categories, tags, keywords, offers, offers_now, favourites, interactions, transactions, customers, ' +
    'toString(amount), toString(savings), toString(first_bought_at), toString(last_bought_at)'
  expect(await rowsOf('shops_overview', columns)).toEqual([
    [
      ...['Books', true, 2, ['Reading'], ['study'], [], 1, 1, 0, 3, 4, 3, '11.4', '1.07'],
      ...['2026-02-10 09:00:00.000', '2026-03-01 23:59:59.999'],
    ],
    [
      ...['Cafe', null, 0, [], [], ['coffee'], 1, 0, 2, 4, 3, 2, '10.8', '0.5'],
      ...['2026-03-02 08:00:00.000', '2026-04-01 00:00:00.000'],
    ],
  ])
})

it('shows a customer with attributes and purchases', async () => {
  const columns =
    'customer_id, user_id, gender, age_band, institute, course, transactions, toString(amount), toString(savings), shops, top_shops, ' +
    'favourite_shops, tags, keywords, toString(first_bought_at), toString(last_bought_at)'
  expect(await rowsOf('customers_overview', columns)).toEqual([
    [
      ...[
        people.ann,
        users.ann,
        'female',
        '40 and over',
        'Uni',
        'Maths',
        3,
        '15.3',
        '1.55',
        2,
        [shops.books, shops.cafe],
      ],
      ...[[shops.cafe], ['study'], ['coffee'], '2026-03-01 00:00:00.000', '2026-03-02 08:00:00.000'],
    ],
    [
      ...[people.bob, users.bob, null, null, null, null, 2, '2.6', '0.02', 2, [shops.books, shops.cafe]],
      ...[[shops.cafe], ['study'], ['coffee'], '2026-02-10 09:00:00.000', '2026-04-01 00:00:00.000'],
    ],
    [people.cy, users.cy, null, null, null, null, 0, '0', '0', 0, [], [], [], [], null, null],
  ])
})

it('counts customers by what they are and where they buy', async () => {
  const columns = 'attribute, value, customers, buyers, transactions, toString(amount)'
  expect(await rowsOf('customers_by_attribute', columns)).toEqual([
    ['age_band', '40 and over', 1, 1, 3, '15.3'],
    ['course', 'Maths', 1, 1, 3, '15.3'],
    ['gender', 'female', 1, 1, 3, '15.3'],
    ['institute', 'Uni', 1, 1, 3, '15.3'],
    ['keyword', 'coffee', 2, 2, 5, '17.9'],
    ['region', 'GB', 3, 2, 5, '17.9'],
    ['tag', 'study', 2, 2, 5, '17.9'],
  ])
})

it('scores customers in fifths, the same value the same, and names the segments', async () => {
  const buyers = Array.from({ length: 10 }, (_, n) => id(1000 + n))
  const isoDay = (daysAgo: number) => new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10)
  await fill(clickhouse, ten, {
    customers: buyers.map((customer_id) => ({ customer_id, user_id: customer_id, region: 'GB' })),
    // The first bought once, ten days ago, for 1; the second twice, nine days ago, and so on. The last two bought equally often.
    transactions: buyers.flatMap((student_id, n) =>
      Array.from({ length: Math.min(n, 8) + 1 }, (_, each) => ({
        ...{ transaction_id: id(10_000 + n * 100 + each), shop_id: shops.books, region: 'GB', savings: 0, student_id },
        ...{ amount: n + 1, created: `${isoDay(10 - n)} 00:00:00` },
      })),
    ),
  })
  const columns = 'customer_id, recency_days, frequency, toString(monetary), r, f, m, segment'
  expect(await rowsOf('customer_segments', columns, ten)).toEqual([
    [buyers[0], 10, 1, '1', 1, 1, 1, 'lost'],
    [buyers[1], 9, 2, '4', 1, 1, 1, 'lost'],
    [buyers[2], 8, 3, '9', 2, 2, 2, 'fading'],
    [buyers[3], 7, 4, '16', 2, 2, 2, 'fading'],
    [buyers[4], 6, 5, '25', 3, 3, 3, 'promising'],
    [buyers[5], 5, 6, '36', 3, 3, 3, 'promising'],
    [buyers[6], 4, 7, '49', 4, 4, 4, 'champions'],
    [buyers[7], 3, 8, '64', 4, 4, 4, 'champions'],
    [buyers[8], 2, 9, '81', 5, 5, 5, 'champions'],
    [buyers[9], 1, 9, '90', 5, 5, 5, 'champions'],
  ])
})

it('knows who was in a segment at an earlier moment', async () => {
  const columns = 'customer_id, recency_days, frequency, toString(monetary), r, f, m'
  const members = (name: string, at: string) => rowsOf(`segment_members(name = '${name}', at = '${at}')`, columns)
  // The transaction that was deleted two days later was there, and the one of April was not.
  expect(await members('fading', '2026-03-10 00:00:00')).toEqual([[people.bob, 7, 2, '7.1', 3, 1, 1]])
  expect(await members('at risk', '2026-03-10 00:00:00')).toEqual([[people.ann, 8, 3, '15.3', 1, 3, 3]])
  expect(await members('fading', '2026-03-12 00:00:00')).toEqual([])
  expect(await members('fading', '2026-05-01 00:00:00')).toEqual([[people.bob, 30, 2, '2.6', 3, 1, 1]])
})

it('counts what came of recommended interactions, and of the others', async () => {
  const counts = 'interactions, followed, bought_1d, bought_7d, bought_30d'
  expect(await rowsOf('recommendations', `day, item_type, platform, country, source, ${counts}`)).toEqual([
    ['2026-03-01', 'KEYWORD', 'WEB', 'GB', 'SERVICE', 1, 0, 1, 1, 1],
    ['2026-03-01', 'OFFER', 'OTHER', null, null, 1, 0, 0, 0, 0],
    ['2026-03-01', 'OFFER', 'WEB', 'GB', null, 1, 0, 1, 1, 1],
    ['2026-03-01', 'SHOP', 'OTHER', null, null, 1, 0, 0, 0, 0],
    ['2026-03-01', 'SHOP', 'WEB', 'GB', 'SERVICE', 1, 0, 1, 1, 1],
    ['2026-03-01', 'SHOP', null, null, null, 1, 0, 0, 0, 0],
    ['2026-03-01', 'TAG', null, null, null, 1, 0, 0, 0, 0],
    ['2026-03-20', 'SHOP', 'IOS', 'GB', 'SERVICE', 1, 1, 0, 0, 1],
    ['2026-03-20', 'SHOP', 'IOS', 'GB', null, 1, 0, 0, 0, 1],
  ])
  expect(await rowsOf('recommendations_by_id', `recommendation_id, item_type, first_day, last_day, ${counts}`)).toEqual(
    [
      [recommended.shop, 'SHOP', '2026-03-01', '2026-03-20', 2, 1, 1, 1, 2],
      [recommended.keyword, 'KEYWORD', '2026-03-01', '2026-03-01', 1, 0, 1, 1, 1],
    ],
  )
})

it('says how much likelier a purchase is after a recommendation, and how sure that is', async () => {
  const many = randomUUID()
  const times = (count: number, hasBought: number, row: object) =>
    Array.from({ length: count }, (_, n) => ({ ...row, student_id: id(n < hasBought ? 71 : 72) }))
  const seen = {
    interaction_type: 'PAGE_VIEW',
    item_type: 'SHOP',
    item_id: shops.books,
    event_timestamp: '2026-03-01 10:00:00',
  }
  const { shops: some = [], customers = [] } = smallWorld
  await fill(clickhouse, many, {
    shops: some,
    customers,
    transactions: [
      ...[{ transaction_id: id(1), shop_id: shops.books, region: 'GB', savings: 0, amount: 1, student_id: people.ann }],
    ].map((row) => ({ ...row, created: '2026-03-04 10:00:00' })),
    interactions: [...times(100, 20, { ...seen, source: 'SERVICE' }), ...times(200, 20, seen)].map((row, n) => ({
      ...row,
      interaction_id: id(5000 + n),
    })),
  })
  const columns =
    'within_days, recommended, recommended_bought, others, others_bought, lift, round(lift_low, 3), round(lift_high, 3)'
  expect(await rowsOf('recommendation_lift', columns, many)).toEqual([
    [1, 100, 0, 200, 0, null, null, null],
    [7, 100, 20, 200, 20, 2, 1.129, 3.542],
    [30, 100, 20, 200, 20, 2, 1.129, 3.542],
  ])
})

it('counts interactions by item, day, platform and country', async () => {
  const columns = 'day, item_type, item_id, interaction_type, platform, country, interactions, recommended, persons'
  expect(await rowsOf('interactions_by_day', columns)).toEqual([
    ['2026-03-01', 'KEYWORD', id(41), 'FILTER_CLICK', 'WEB', 'GB', 1, 1, 1],
    ['2026-03-01', 'OFFER', offers.tenth, 'PAGE_VIEW', 'WEB', 'GB', 1, 0, 1],
    ['2026-03-01', 'OFFER', offers.cup, 'PAGE_VIEW', 'OTHER', null, 1, 0, 0],
    ['2026-03-01', 'SHOP', shops.books, 'PAGE_VIEW', 'WEB', 'GB', 1, 1, 1],
    ['2026-03-01', 'SHOP', shops.books, 'PAGE_VIEW', null, null, 1, 0, 1],
    ['2026-03-01', 'SHOP', shops.cafe, 'PAGE_VIEW', 'OTHER', null, 1, 0, 0],
    ['2026-03-01', 'TAG', id(31), 'FILTER_CLICK', null, null, 1, 0, 0],
    ['2026-03-20', 'SHOP', shops.cafe, 'PAGE_VIEW', 'IOS', 'GB', 1, 1, 1],
    ['2026-03-20', 'SHOP', shops.cafe, 'SHARE', 'IOS', 'GB', 1, 0, 1],
  ])
})

it('follows people from a view to an offer to a purchase', async () => {
  const columns = 'day, shop_id, viewed, went_to_offer, bought, bought_at_all, offer_share, bought_share'
  expect(await rowsOf('funnel', columns)).toEqual([
    ['2026-03-01', shops.books, 2, 1, 1, 1, 0.5, 1],
    ['2026-03-20', shops.cafe, 1, 0, 0, 1, 0, null],
  ])
})

it('counts refused records by what is wrong with them', async () => {
  const refused = (index: number, day: string, ...codes: string[]) =>
    `('${org}', generateUUIDv4(), '${id(1)}', '${day} 23:59:59', ${index}, 'shops', ${index}, null, [${codes.map((code) => `(null, '${code}', 'x')`)}], '{}', false)`
  await clickhouse.command(
    `insert into weir.rejections_log values ${[
      refused(1, '2026-03-01', 'missing', 'wrong_type', 'missing'),
      refused(2, '2026-03-01', 'missing'),
      refused(3, '2026-03-02', 'missing'),
    ]}`,
  )
  expect(await rowsOf('refusals_by_day', 'day, type, code, refused')).toEqual([
    ['2026-03-01', 'shops', 'missing', 2],
    ['2026-03-01', 'shops', 'wrong_type', 1],
    ['2026-03-02', 'shops', 'missing', 1],
  ])
})
