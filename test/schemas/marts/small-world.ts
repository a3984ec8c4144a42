import type { ClickHouse } from '#platform/clickhouse.js'
import { logTableOf } from '#schemas/derive/names.js'

/** A readable id. */
export const id = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`

export const shops = { books: id(1), cafe: id(2), gone: id(3) }
export const branches = { main: id(11), side: id(12) }
export const offers = { tenth: id(51), cup: id(52) }
export const people = { ann: id(71), bob: id(72), cy: id(73), dee: id(74) }
export const users = { ann: id(81), bob: id(82), cy: id(83), dee: id(84) }
export const recommended = { shop: id(91), keyword: id(92) }

type Row = Record<string, unknown>
const onWeb = { platform: 'WEB', country: 'GB' }
const onPhone = { platform: 'IOS', country: 'GB' }
const inShop = (n: number, shop: string, more: Row) => ({ n, shop_id: shop, region: 'GB', savings: 0, ...more })

/** A few records of every type; the second of two with the same id and a higher version replaces the first. */
export const smallWorld: Record<string, Row[]> = {
  shops: [
    { shop_id: shops.books, name: 'Books', region: 'GB', is_public: true },
    { shop_id: shops.cafe, name: 'Cafe', region: 'GB' },
    { shop_id: shops.gone, name: 'Gone', region: 'GB', is_deleted: true },
  ],
  branches: Object.values(branches).map((branch_id) => ({ branch_id, shop_id: shops.books, name: 'B', region: 'GB' })),
  categories: [{ category_id: id(21), name: 'Reading', region: 'GB' }],
  'shop-categories': [{ shop_category_id: id(22), shop_id: shops.books, category_id: id(21), region: 'GB' }],
  tags: [{ tag_id: id(31), name: 'study' }],
  'shop-tags': [{ shop_tag_id: id(32), shop_id: shops.books, tag_id: id(31) }],
  keywords: [{ keyword_id: id(41), name: 'coffee' }],
  'shop-keywords': [{ shop_keyword_id: id(42), shop_id: shops.cafe, keyword_id: id(41) }],
  offers: [
    {
      ...{
        offer_id: offers.tenth,
        shop_id: shops.books,
        name: 'Tenth off',
        type: 'percentage',
        value: 10,
        region: 'GB',
      },
      allowed_branches: ` ${branches.main},nowhere`,
    },
    {
      ...{ offer_id: offers.cup, shop_id: shops.cafe, name: 'Free cup', type: 'fixed', value: 2, region: 'GB' },
      is_enabled: false,
    },
  ],
  institutes: [{ institute_id: id(61), name: 'Uni', region: 'GB' }],
  courses: [{ course_id: id(62), name: 'Maths' }],
  customers: [
    {
      ...{ customer_id: people.ann, user_id: users.ann, region: 'GB', gender: 'female' },
      ...{ birthdate: '1980-01-01', institute_id: id(61), course_id: id(62) },
    },
    { customer_id: people.bob, user_id: users.bob, region: 'GB' },
    { customer_id: people.cy, user_id: users.cy, region: 'GB' },
    { customer_id: people.dee, user_id: users.dee, region: 'GB' },
    { customer_id: people.dee, user_id: users.dee, region: 'GB', version: 2, is_deleted: true },
  ],
  'student-favourites': [people.ann, people.bob].map((customer_id, n) => ({
    student_favourite_id: id(100 + n),
    customer_id,
    shop_id: shops.cafe,
  })),
  transactions: [
    inShop(1, shops.books, {
      ...{ amount: 10.1, savings: 1.05, student_id: people.ann, branch_id: branches.main, source: 'online' },
      ...{ offer_id: offers.tenth, created: '2026-03-01 23:59:59.999' },
    }),
    inShop(2, shops.books, {
      ...{ amount: 0.2, student_id: people.ann, branch_id: branches.main, source: 'online' },
      created: '2026-03-01 00:00:00',
    }),
    inShop(3, shops.cafe, { amount: 5, savings: 0.5, student_id: people.ann, created: '2026-03-02 08:00:00' }),
    inShop(4, shops.cafe, { amount: 100, student_id: people.ann, created: '2026-03-01 00:00:00' }),
    inShop(4, shops.books, {
      ...{ amount: 0.1, savings: 0.02, student_id: people.bob, branch_id: branches.side, source: 'in-store' },
      ...{ created: '2026-02-10 09:00:00', version: 2, accepted_at: '2026-02-20 00:00:00' },
    }),
    inShop(5, shops.cafe, {
      ...{ amount: 7, student_id: people.bob, created: '2026-03-03 09:00:00', accepted_at: '2026-03-03 09:00:01' },
    }),
    inShop(5, shops.cafe, {
      ...{ amount: 7, student_id: people.bob, created: '2026-03-03 09:00:00', is_deleted: true },
      ...{ version: 2, accepted_at: '2026-03-12 00:00:00' },
    }),
    inShop(6, shops.cafe, { amount: 3.3, region: 'FR', accepted_at: '2026-03-05 10:00:00' }),
    inShop(7, shops.books, { amount: 1, student_id: people.dee, created: '2026-02-11 09:00:00' }),
    inShop(8, shops.cafe, {
      ...{ amount: 2.5, student_id: people.bob, created: '2026-04-01 00:00:00', accepted_at: '2026-04-01 00:00:01' },
    }),
  ].map(({ n, ...row }) => ({ transaction_id: id(200 + n), ...row })),
  interactions: [
    view('SHOP', shops.books, '2026-03-01 12:00:00', { student_id: people.ann, ...onWeb, ...by(recommended.shop) }),
    view('OFFER', offers.tenth, '2026-03-01 12:05:00', { user_id: users.ann.toUpperCase(), ...onWeb }),
    view('SHOP', shops.books, '2026-03-01 13:00:00', { user_id: 'a stranger' }),
    // Interactions without a user or a student: they may be of two persons, and must not count as one who went from the shop to the offer.
    view('SHOP', shops.cafe, '2026-03-01 09:00:00', { platform: 'OTHER' }),
    view('OFFER', offers.cup, '2026-03-01 09:01:00', { platform: 'OTHER' }),
    view('SHOP', shops.cafe, '2026-03-20 09:00:00', { student_id: people.bob, ...onPhone, ...by(recommended.shop) }),
    {
      ...view('SHOP', shops.cafe, '2026-03-20 10:00:00', { student_id: people.bob, ...onPhone }),
      interaction_type: 'SHARE',
    },
    { ...view('TAG', id(31), '2026-03-01 12:00:00', {}), interaction_type: 'FILTER_CLICK' },
    {
      ...view('KEYWORD', id(41), '2026-03-01 20:00:00', {
        student_id: people.ann,
        ...onWeb,
        ...by(recommended.keyword),
      }),
      interaction_type: 'FILTER_CLICK',
    },
  ].map((row, n) => ({ interaction_id: id(300 + n), ...row })),
}

/** Writes these records as the sink does: some rows twice. */
export const fill = async (
  clickhouse: ClickHouse,
  org: string,
  world: Readonly<Record<string, Row[]>>,
): Promise<void> => {
  for (const [type, rows] of Object.entries(world)) {
    const lines = rows.map((row) =>
      JSON.stringify({ org_id: org, version: 1, accepted_at: '2026-02-01 00:00:00', ...row }),
    )
    const insert = `insert into weir.${logTableOf(type)} format JSONEachRow\n`
    await clickhouse.command(insert + lines.join('\n'))
    await clickhouse.command(insert + lines.slice(0, 1).join('\n'))
  }
}

function view(item_type: string, item_id: string, event_timestamp: string, more: Row): Row {
  return { interaction_type: 'PAGE_VIEW', item_type, item_id, event_timestamp, recorded_at: event_timestamp, ...more }
}
function by(recommendation_id: string): Row {
  return { source: 'SERVICE', recommendation_id }
}
