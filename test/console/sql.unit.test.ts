import { describe, expect, it } from 'vitest'
import { plotOf, plottable } from '../../clients/console/pages/sql/plotted.js'
import { type SqlTable, suggestionsFor } from '../../clients/console/pages/sql/tables.js'

const table = (name: string, ...columns: string[]): SqlTable => ({
  name,
  about: '',
  columns: columns.map((column) => ({ name: column, type: 'String', about: '' })),
})
const tables = [
  table('shops', 'shop_id', 'name'),
  table('sales_by_day', 'day', 'amount'),
  table("members(at = 'x')", 'who'),
]
const labels = (query: string, before = query) => suggestionsFor(query, before, tables).map(({ label }) => label)

describe('completion', () => {
  it('offers the columns of the tables that the query names, then tables and functions', () => {
    const offered = labels('select  from weir.sales_by_day', 'select ')
    expect(offered.slice(0, 4)).toEqual(['day', 'amount', 'shops', 'sales_by_day'])
    expect(offered).toContain('count')
    expect(labels('select ')).not.toContain('amount')
  })

  it('offers behind a dot what the name before it has: a table, its other name, the database', () => {
    const query = "select s. from shops as s join sales_by_day d join members(at = 'y') m"
    expect(labels(query, 'select s.')).toEqual(['shop_id', 'name'])
    expect(labels(query, 'select d.am')).toEqual(['day', 'amount'])
    expect(labels(query, 'select m.')).toEqual(['who'])
    expect(labels(query, 'select x.')).toEqual([])
    expect(labels('select * from weir.')).toContain('sales_by_day')
  })
})

describe('a plot', () => {
  const columns = [
    { name: 'region', type: 'LowCardinality(Nullable(String))' },
    { name: 'amount', type: 'Nullable(Decimal(38, 9))' },
    { name: 'day', type: 'Date32' },
  ]
  it('is along days first, of numbers', () => {
    expect(plottable({ columns })).toEqual({ along: ['day', 'region', 'amount'], drawn: ['amount'] })
    expect(plottable({ columns: columns.slice(0, 1) }).along).toEqual([])
  })

  it('puts days in their order, and draws things in the order of the rows', () => {
    const rows = [
      ['GB', '2.5', '2026-01-02'],
      [null, null, '2026-01-01'],
    ]
    const at = [Date.UTC(2026, 0, 1) / 1000, Date.UTC(2026, 0, 2) / 1000]
    expect(plotOf({ columns, rows }, 'day', 'amount')).toEqual({ kind: 'time', at, values: [null, 2.5] })
    expect(plotOf({ columns, rows }, 'region', 'amount')).toMatchObject({
      kind: 'things',
      things: [
        { name: 'GB', value: 2.5, words: '2.5' },
        { name: 'null', value: 0 },
      ],
      left: 0,
    })
  })

  it('says why it cannot be drawn, and draws nothing wrong', () => {
    const twice = [
      ['GB', '1', '2026-01-01'],
      ['FR', '2', '2026-01-01'],
    ]
    expect(plotOf({ columns, rows: twice }, 'day', 'amount')).toMatchObject({
      kind: 'none',
      why: expect.stringContaining('same day'),
    })
    expect(plotOf({ columns, rows: [['GB', '-1', '2026-01-01']] }, 'day', 'amount')).toMatchObject({ kind: 'none' })
  })
})
