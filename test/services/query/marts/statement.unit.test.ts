import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type MartQuestion, ownColumns, toStatement } from '#query/marts/statement.js'
import { marts } from '#schemas/marts/all.js'

const martOf = (name: string) => {
  const mart = marts.find((each) => each.name === name)
  if (!mart) throw new Error(`there is no mart ${name}`)
  return mart
}
const ask = (name: string, asked: Partial<MartQuestion> & Record<string, unknown> = {}) =>
  toStatement(martOf(name), 'acme', { limit: 1000, ...asked })
const askRightly = (...given: Parameters<typeof ask>) => {
  const statement = ask(...given)
  if ('problems' in statement) throw new Error(statement.problems[0]?.message)
  return statement
}
const messageOf = (...given: Parameters<typeof ask>): string | undefined => {
  const statement = ask(...given)
  return 'problems' in statement ? statement.problems[0]?.message : undefined
}

describe('the query of a question', () => {
  it('has the rows of one organisation, as they are', () => {
    const { sql, values, pasteable } = askRightly('refusals_by_day')
    expect(sql).toBe(
      'select day, type, code, refused\nfrom weir.refusals_by_day\nwhere org_id = {org:String}\norder by day, type, code, refused\nlimit {limit:UInt32}',
    )
    expect(values).toEqual({ org: 'acme', limit: 1000 })
    expect(pasteable).toContain("where org_id = 'acme'\n")
  })

  it('orders by all columns where none is a number', () => {
    const { columns, ...mart } = martOf('refusals_by_day')
    const { refused: _, ...words } = columns
    const statement = toStatement({ ...mart, columns: words }, 'acme', { limit: 1 })
    expect('sql' in statement && statement.sql).toContain('order by day, type, code\n')
  })

  it('sums, orders and chooses', () => {
    const shop = '00000000-0000-4000-8000-000000000001'
    const { pasteable, columns } = askRightly('sales_by_day', {
      ...{ from: '2026-01-01', to: '2026-01-31', region: 'GB', shop_id: shop },
      ...{ by: 'day,source', sum: 'amount', order: '-amount', limit: 5 },
    })
    expect(pasteable.split('\n')).toEqual([
      'select day, source, sum(amount) as amount, count() as rows',
      'from weir.sales_by_day',
      `where org_id = 'acme' and day >= '2026-01-01' and day <= '2026-01-31' and region = 'GB' and shop_id = '${shop}'`,
      'group by day, source',
      'order by amount desc, day, source',
      'limit 5',
    ])
    expect(columns.map(({ name, type }) => [name, type])).toEqual([
      ['day', 'Date32'],
      ['source', 'LowCardinality(Nullable(String))'],
      ['amount', 'Decimal(38, 9)'],
      ['rows', 'UInt64'],
    ])
  })

  it('sums everything into one row where nothing is kept apart', () => {
    expect(askRightly('funnel', { sum: 'viewed' }).sql).not.toMatch(/group by|order by/)
  })

  it('binds the values that a mart is asked with, whatever they are', () => {
    const at = "x' or \\' 1"
    const { sql, values, pasteable } = askRightly('segment_members', { name: 'loyal', at })
    expect(sql).toContain('from weir.segment_members(name = {name:String}, at = {at:String})')
    expect(values).toMatchObject({ name: 'loyal', at })
    expect(pasteable).toContain("at = 'x\\' or \\\\\\' 1'")
  })

  it('holds no text of the caller but names of columns that are declared', () => {
    const word = fc.oneof(fc.string(), fc.constantFrom('day', 'amount', 'org_id', 'rows', 'count()', 'day desc'))
    fc.assert(
      fc.property(fc.constantFrom(...marts), word, word, word, (mart, by, sum, order) => {
        const statement = toStatement(mart, 'acme', { limit: 10, by, sum, order, ...mart.asked })
        if ('problems' in statement) return
        const known = new Set([...ownColumns(mart), 'rows'])
        for (const name of [...by.split(','), ...sum.split(','), order.replace(/^-/, '')]) expect(known).toContain(name)
      }),
    )
  })
})

describe('what is wrong with a question', () => {
  it.each([
    [
      'a column that is not there',
      'sales_by_day',
      { by: 'days' },
      /by: sales_by_day has no column days; did you mean day\?.*There are day, shop_id/,
    ],
    ['whose rows they are', 'sales_by_day', { by: 'org_id' }, /has no column org_id/],
    [
      'a text as a sum',
      'sales_by_day',
      { sum: 'region' },
      /sum: .* no column to be summed region; There are transactions, amount, savings, customers/,
    ],
    ['the same column twice', 'cohorts', { by: 'month', sum: 'month' }, /month is in by already/],
    [
      'an order by what is not answered',
      'sales_by_day',
      { by: 'day', order: 'amount' },
      /order: .*There are day, rows/,
    ],
    ['days where there are none', 'cohorts', { from: '2026-01-01' }, /cohorts has no column day: leave out from/],
    ['a shop where there is none', 'refusals_by_day', { shop_id: 'x' }, /no column shop_id/],
    ['days the wrong way round', 'funnel', { from: '2026-01-02', to: '2026-01-01' }, /from must not be after to/],
    [
      'values that are missing',
      'segment_members',
      { name: 'loyal' },
      /is asked with name and at, as in \/v1\/marts\/segment_members\?name=loyal&at=/,
    ],
    [
      'values that nothing is asked with',
      'funnel',
      { at: '2026-01-01' },
      /funnel is not asked with values: leave out at/,
    ],
  ] as const)('%s', (_, mart, asked, message) => {
    expect(messageOf(mart, asked)).toMatch(message)
  })
})
