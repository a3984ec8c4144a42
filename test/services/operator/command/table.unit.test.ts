import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Column, toDistance, toTable } from '../../../../services/operator/command/table.js'

type Row = { id: string; scopes: string }
const columns: Column<Row>[] = [
  { title: 'ID', cell: ({ id }) => id },
  { title: 'SCOPES', cell: ({ scopes }) => scopes, wraps: true },
]

it('is as wide as its content', () => {
  const rows = [
    { id: 'abc', scopes: 'all' },
    { id: 'd', scopes: 'shops:write' },
  ]
  expect(toTable(columns, rows, 80)).toBe('ID   SCOPES\nabc  all\nd    shops:write')
})

it('wraps a column that may, at spaces', () => {
  const rows = [{ id: 'abc', scopes: 'shops:write tags:write all' }]
  expect(toTable(columns, rows, 20)).toBe('ID   SCOPES\nabc  shops:write\n     tags:write all')
})

it('has a line for each row where there is no terminal', () => {
  const rows = [{ id: 'abc', scopes: 'shops:write tags:write '.repeat(20).trim() }]
  expect(toTable(columns, rows, Number.POSITIVE_INFINITY).split('\n')).toHaveLength(2)
})

it('never leaves the terminal, and loses no letter', () => {
  const text = fc.stringMatching(/^[a-z]{0,30}( [a-z]{1,30}){0,3}$/)
  fc.assert(
    fc.property(
      fc.array(fc.record({ id: fc.stringMatching(/^\w{12}$/), scopes: text })),
      fc.integer({ min: 24, max: 60 }),
      (rows, width) => {
        const table = toTable(columns, rows, width)
        expect(Math.max(...table.split('\n').map((line) => line.length))).toBeLessThanOrEqual(width)
        const letters = rows.map(({ id, scopes }) => id.length + scopes.replaceAll(' ', '').length)
        expect(table.replaceAll(/\s/g, '').length).toBe(letters.reduce((sum, n) => sum + n, 'IDSCOPES'.length))
      },
    ),
  )
})

it.each([
  [-5_000, 'a moment ago'],
  [30_000, 'in a moment'],
  [-5 * 60_000, '5 min ago'],
  [24 * 3_600_000, 'in 24 h'],
  [90 * 86_400_000, 'in 90 d'],
])('%d ms away reads "%s"', (ms, text) => {
  const now = new Date('2026-01-01T00:00:00Z')
  expect(toDistance(new Date(now.getTime() + ms), now)).toBe(text)
})
