import { type MartQuestion, toStatement } from '#query/marts/statement.js'
import { marts } from '#schemas/marts/all.js'

type Row = Record<string, unknown>

/** Rows of marts by their names, and by the organisation that they are of. */
export type PretendMarts = Map<string, Row[]>

export const martReferences = () => ({
  marts: marts.map(({ name, about, grain, columns, asked }) => ({
    ...{ name, about, grain, asked: asked ?? null },
    columns: Object.entries(columns).map(([column, { type, about: meaning }]) => ({
      name: column,
      type,
      about: meaning,
    })),
  })),
})

/** What the edge answers, with sums as ClickHouse makes them; undefined where there is no such mart. */
export const answerMart = (known: PretendMarts, org: string, name: string, query: URLSearchParams) => {
  const mart = marts.find((each) => each.name === name)
  if (!mart) return undefined
  const asked: MartQuestion = {
    limit: 1000,
    ...Object.fromEntries(query),
    ...(query.get('limit') && { limit: Number(query.get('limit')) }),
  }
  const statement = toStatement(mart, org, asked)
  if ('problems' in statement) return { message: statement.problems[0]?.message }
  const { from, to, region, shop_id: shop } = asked
  const chosen = (known.get(`${org}/${name}`) ?? []).filter(
    (row) =>
      (!from || String(row.day) >= from) &&
      (!to || String(row.day) <= to) &&
      (!region || row.region === region) &&
      (!shop || row.shop_id === shop),
  )
  const isSummed = asked.by !== undefined || asked.sum !== undefined
  const rows = isSummed ? summed(chosen, asked.by?.split(',') ?? [], asked.sum?.split(',') ?? []) : [...chosen]
  const [by = ''] = (asked.order ?? asked.by ?? Object.keys(rows[0] ?? {})[0] ?? '').replace('-', '').split(',')
  rows.sort((a, b) => compare(a[by], b[by]) * (asked.order?.startsWith('-') ? -1 : 1))
  const shown = rows.slice(0, asked.limit)
  const { columns, pasteable } = statement
  return { mart: name, columns, rows: shown, sql: pasteable, truncated: rows.length > shown.length }
}

const compare = (a: unknown, b: unknown): number =>
  Number.isNaN(Number(a)) ? (String(a) < String(b) ? -1 : 1) : Number(a) - Number(b)

const summed = (rows: Row[], by: string[], sum: string[]): Row[] => {
  const groups = new Map<string, Row>()
  if (by.length === 0) groups.set('[]', { ...Object.fromEntries(sum.map((name) => [name, 0])), rows: 0 })
  for (const row of rows) {
    const key = JSON.stringify(by.map((name) => row[name]))
    const group = groups.get(key) ?? { ...Object.fromEntries(by.map((name) => [name, row[name]])), rows: 0 }
    for (const name of sum) {
      const total = Number(group[name] ?? 0) + Number(row[name])
      group[name] = typeof row[name] === 'string' ? total.toFixed(2) : total
    }
    groups.set(key, { ...group, rows: Number(group.rows) + 1 })
  }
  return [...groups.values()]
}

/** A year of a few shops: they sell more at weekends, and one of them more than the others. */
export const fillMarts = (known: PretendMarts, org: string, shops: readonly { shop_id: string; name: string }[]) => {
  const set = (name: string, rows: Row[]) => known.set(`${org}/${name}`, rows)
  const dayOf = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)
  const days = Array.from({ length: 370 }, (_, ago) => ({ day: dayOf(ago), ago }))
  const wave = (n: number) => 0.6 + 0.4 * Math.abs(Math.sin(n * 12.9898))
  const isWeekend = (day: string) => [0, 6].includes(new Date(day).getUTCDay())
  const sales = days.flatMap(({ day, ago }) =>
    shops.map(({ shop_id }, index) => {
      const transactions = Math.round(
        (90 / (index + 1)) * wave(ago + index) * (isWeekend(day) ? 1.5 : 1) * (1 - ago / 600),
      )
      const region = index % 4 === 3 ? 'FR' : index % 3 === 2 ? 'IE' : 'GB'
      const amount = transactions * (11.35 + index)
      return {
        ...{ day, shop_id, region, branch_id: null, source: index % 2 ? 'online' : 'in-store', transactions },
        ...{
          amount: amount.toFixed(2),
          savings: (amount * 0.14).toFixed(2),
          customers: Math.round(transactions * 0.8),
        },
      }
    }),
  )
  set('sales_by_day', sales)
  const sumOf = (shop: string, name: 'amount' | 'transactions') =>
    sales.filter(({ shop_id }) => shop_id === shop).reduce((sum, row) => sum + Number(row[name]), 0)
  set(
    'shops_overview',
    shops.map(({ shop_id, name }) => ({ shop_id, name, region: 'GB', amount: sumOf(shop_id, 'amount').toFixed(2) })),
  )
  const names = ['Ten off', 'Two for one on Tuesdays', 'Free coffee with any book', 'Five euros for freshers']
  set(
    'offers_used',
    names.map((name, index) => ({
      ...{ offer_id: crypto.randomUUID(), shop_id: shops[index]?.shop_id, name, type: 'percentage', region: 'GB' },
      ...{ is_enabled: true, views: 4200 - 900 * index, interactions: 6100 - 1100 * index, uses: 830 - 210 * index },
      ...{ customers: 610 - 150 * index, amount: `${9420 - 2300 * index}.50`, savings: '942.00' },
      ...{
        share_of_sales: index === 3 ? null : 0.31 - 0.08 * index,
        eligible_branches: 4,
        branches_used: 3 - (index % 3),
      },
      ...{ share_of_eligible: 0.75, first_used_at: null, last_used_at: null },
    })),
  )
  const sizes = { champions: 184, loyal: 260, 'at risk': 97, new: 143, promising: 121, fading: 205, lost: 88 }
  set(
    'customer_segments',
    Object.entries(sizes).flatMap(([segment, size], index) =>
      Array.from({ length: size }, (_, n) => ({
        ...{ customer_id: `${segment} ${n}`, segment, recency_days: index * 20 + (n % 20), frequency: 12 - index },
        ...{ monetary: (240 - 30 * index + (n % 9)).toFixed(2), r: 5, f: 5, m: 5 },
      })),
    ),
  )
  const own = { 'big spenders': 58 }
  const dayBefore = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)
  set(
    'segment_sizes',
    Object.entries({ ...sizes, ...own }).flatMap(([segment, size], index) =>
      Array.from({ length: 40 }, (_, ago) => ({
        ...{ day: dayBefore(ago), segment, version: segment in own ? 1 : 0 },
        members: Math.round(size * (1 - ago / 90) * wave(ago / 5 + index)),
      })),
    ),
  )
  set('own_segments', [
    {
      ...{ segment: 'big spenders', version: 1, condition: "amount > 500 and region in ( 'GB' , 'IE' )" },
      ...{ about: 'for the autumn letter', created_at: `${dayBefore(40)}T09:00:00.000Z` },
    },
  ])
  set(
    'segment_members',
    Array.from({ length: 3 }, (_, n) => ({
      ...{ customer_id: `00000000-0000-4000-8000-00000000000${n}`, segment: 'big spenders', recency_days: n },
      ...{ frequency: 9, monetary: '812.50', r: 5, f: 4, m: 5 },
    })),
  )
  set('marts_as_of', [{ mart: 'sales_by_day', as_of: new Date(Date.now() - 90_000).toISOString() }])
  const monthOf = (ago: number) => {
    const now = new Date()
    return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - ago)).toISOString().slice(0, 10)
  }
  set(
    'cohorts',
    Array.from({ length: 9 }, (_, ago) => ago).flatMap((ago) =>
      Array.from({ length: ago + 1 }, (_, month) => {
        const customers = Math.round(180 * wave(ago))
        const retention = month === 0 ? 1 : Math.max(0.02, 0.44 * wave(ago + month) * 0.86 ** month)
        const active = Math.round(customers * retention)
        return {
          ...{ cohort: monthOf(ago), month, customers, active, retention: active / customers },
          ...{ transactions: active * 2, amount: (active * 23.4).toFixed(2) },
        }
      }),
    ),
  )
  const items = [
    ['SHOP', 1.6, 9000],
    ['OFFER', 1.25, 5200],
    ['TAG', 0.7, 2600],
    ['KEYWORD', 1.1, 240],
  ] as const
  set(
    'recommendation_lift',
    items.flatMap(([item_type, lift, others]) =>
      [1, 7, 30].map((within_days) => {
        const share = 0.02 * Math.sqrt(within_days)
        const recommended = Math.round(others / 4)
        return {
          ...{ item_type, platform: 'WEB', country: 'GB', within_days, recommended, others },
          ...{ recommended_bought: Math.round(recommended * share * lift), others_bought: Math.round(others * share) },
        }
      }),
    ),
  )
  const kinds = { PAGE_VIEW: 900, FILTER_CLICK: 320, SHARE: 90, DISCOUNT_CODE: 60 }
  set(
    'interactions_by_day',
    days.flatMap(({ day, ago }) =>
      Object.entries(kinds).map(([interaction_type, most]) => {
        const interactions = Math.round(most * wave(ago + most) * (isWeekend(day) ? 1.4 : 1))
        return { day, item_type: 'SHOP', interaction_type, interactions, recommended: Math.round(interactions / 5) }
      }),
    ),
  )
  set(
    'funnel',
    days.flatMap(({ day, ago }) =>
      shops.slice(0, 3).map(({ shop_id }, index) => {
        const viewed = Math.round(240 * wave(ago + index))
        return {
          ...{ day, shop_id, viewed, went_to_offer: Math.round(viewed * 0.36), bought: Math.round(viewed * 0.07) },
          ...{ bought_at_all: Math.round(viewed * 0.11) },
        }
      }),
    ),
  )
  set(
    'refusals_by_day',
    days.slice(0, 90).flatMap(({ day, ago }) =>
      Object.entries({ unknown_reference: 60, bad_format: 22, missing_field: 9 }).map(([code, most]) => ({
        ...{ day, type: 'offers', code, refused: Math.round(most * wave(ago + most) * (ago % 11 === 4 ? 3 : 1)) },
      })),
    ),
  )
}
