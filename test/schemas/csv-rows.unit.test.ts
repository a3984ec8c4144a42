import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cellAt, createRow, longestLine, readRow } from '#schemas/csv-rows.js'
import { csvRow } from '../support/lined.js'

/** Every row: its cells, or why it cannot be read, and its first line. */
const rowsOf = (csv: string | Buffer) => {
  const bytes = Buffer.from(csv)
  const row = createRow()
  const found: { line: number; cells?: string[]; fault?: string }[] = []
  let line = 1
  for (let at = 0; at < bytes.length; ) {
    const next = readRow(bytes, at, true, row)
    if (next <= at) throw new Error(`stands still at ${at}`)
    const cells = Array.from({ length: row.count }, (_, n) => cellAt(bytes, row, n))
    found.push(row.fault === undefined ? { line, cells } : { line, fault: row.fault })
    line += row.lineEnds
    at = next
  }
  return found
}

const cell = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', ' ', ',', '"', '\n', '\r\n', 'ü', '漢', '\t', "'", ';'), maxLength: 6 }),
  fc.string({ unit: 'grapheme', maxLength: 6 }),
)

it('finds the cells that csv-parse finds, and the line of each row', () => {
  const rows = fc.array(fc.array(cell, { minLength: 2, maxLength: 5 }), { minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(
      rows,
      fc.constantFrom('\n', '\r\n'),
      fc.boolean(),
      fc.func(fc.boolean()),
      (given, end, isEnded, quoted) => {
        const written = given.map((cells) => csvRow(cells, (n) => quoted(n)))
        const csv = written.join(end) + (isEnded ? end : '')
        const found = rowsOf(csv)
        expect(found.map(({ cells }) => cells)).toEqual(
          parse(csv, { relax_column_count: true, record_delimiter: ['\r\n', '\n'] }),
        )
        const lines = written.map((_, n) => written.slice(0, n).join(end).split('\n').length + (n === 0 ? 0 : 1))
        expect(found.map(({ line }) => line)).toEqual(lines)
      },
    ),
    { numRuns: 500 },
  )
})

it('asks for more bytes until a row is whole, and then reads it as if it had come at once', () => {
  const texts = fc.string({ unit: fc.constantFrom('a', ',', '"', '\n', '\r\n', '""'), minLength: 1, maxLength: 30 })
  fc.assert(
    fc.property(texts, (text) => {
      const whole = Buffer.from(text)
      const row = createRow()
      const end = readRow(whole, 0, true, row)
      const expected = structuredClone(row)
      for (let length = 1; length <= whole.length; length++) {
        const next = readRow(whole.subarray(0, length), 0, false, row)
        if (next < 0) continue
        expect({ ...row, next }).toEqual({ ...expected, next: end })
        return
      }
    }),
    { numRuns: 1000 },
  )
})

describe('a row that cannot be read', () => {
  it('ends with its line, and the next row is read', () => {
    expect(rowsOf('5" pipe,1\nb,2\n')).toMatchObject([
      { line: 1, fault: expect.stringContaining('a quote stands within') },
      { line: 2, cells: ['b', '2'] },
    ])
    expect(rowsOf('"a"x,1\r\nb,2')).toMatchObject([
      { line: 1, fault: expect.stringContaining('closing quote') },
      { line: 2, cells: ['b', '2'] },
    ])
  })

  it('ends with the line of a quote that is never closed', () => {
    expect(rowsOf('a,"b\nc,d\ne,f\n')).toMatchObject([
      { line: 1, fault: 'a quote is opened and never closed' },
      { line: 2, cells: ['c', 'd'] },
      { line: 3, cells: ['e', 'f'] },
    ])
    expect(rowsOf('"a\nb","c\nd,e\n')).toMatchObject([
      { line: 1, fault: 'a quote is opened and never closed' },
      { line: 3, cells: ['d', 'e'] },
    ])
  })

  it('is longer than any record', () => {
    const long = 'x'.repeat(longestLine)
    expect(rowsOf(`${long}x,1\nb,2\n`)).toMatchObject([
      { fault: expect.stringContaining('longer') },
      { cells: ['b', '2'] },
    ])
    expect(rowsOf(`a,"${long}\nb,2\n`)).toMatchObject([
      { fault: expect.stringContaining('longer') },
      { cells: ['b', '2'] },
    ])
    expect(rowsOf(`a,"x\n${long}\nb,2\n`)).toMatchObject([
      { fault: 'a quote is opened and never closed' },
      { cells: [long] },
      { cells: ['b', '2'] },
    ])
  })

  it('takes no longer where quotes are many than where they are few', () => {
    // A reader that begins anew at each line, and looks for the closing quote up to the end, would take hours.
    const rows = rowsOf(`${'"\n""\n'.repeat(200_000)}`)
    expect(rows.length).toBeGreaterThan(100_000)
  })
})
