import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readRows } from '#query/sql/read-rows.js'
import { shorten, toRefusal } from '#query/sql/refusals.js'
import { wholeFile } from '#query/sql/whole-file.js'

async function* inPieces(text: string, size = 7) {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
const head = '["a", "b"]\n["UInt64", "String"]\n'
const many = { rows: 100, bytes: 10_000 }

describe('rows', () => {
  it('are the same however the answer is cut into pieces', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(), fc.string())),
        fc.integer({ min: 1, max: 40 }),
        async (rows, size) => {
          const text = head + rows.map((row) => `${JSON.stringify(row)}\n`).join('')
          const read = await readRows(inPieces(text, size), { rows: 1000, bytes: 1_000_000 })
          expect(read.rows.map((row) => JSON.parse(row))).toEqual(rows)
          expect([read.truncated, read.problem]).toEqual([false, undefined])
        },
      ),
    )
  })

  it('end at the limits, and say so', async () => {
    const text = `${head}["1", "x"]\n["2", "y"]\n["3", "z"]\n`
    expect(await readRows(inPieces(text), { ...many, rows: 2 })).toMatchObject({ truncated: true, rows: { length: 2 } })
    expect(await readRows(inPieces(text), { ...many, rows: 3 })).toMatchObject({
      truncated: false,
      rows: { length: 3 },
    })
    expect(await readRows(inPieces(text), { ...many, bytes: 25 })).toMatchObject({
      truncated: true,
      rows: { length: 2 },
    })
    const long = `${head}["${'x'.repeat(50_000)}"]\n`
    expect(await readRows(inPieces(long, 1000), many)).toMatchObject({ truncated: true, rows: [] })
  })

  it('followed by an error are an error', async () => {
    const text = `${head}["1", "x"]\nCode: 159. DB::Exception: Timeout exceeded. (TIMEOUT_EXCEEDED) (version 24.8)\n`
    expect((await readRows(inPieces(text), many)).problem).toContain('Code: 159.')
  })
})

describe('a download', () => {
  const through = (format: 'CSVWithNames' | 'Parquet', text: string, tag?: string) =>
    buffer(Readable.from(inPieces(text, 4096)).pipe(wholeFile(format, tag))).then(String)
  const error = 'Code: 159. DB::Exception: Timeout exceeded. (TIMEOUT_EXCEEDED) (version 24.8.1 (official build))\n'

  it('goes through where it is whole', async () => {
    const long = '"a"\n'.repeat(20_000)
    expect(await through('CSVWithNames', long)).toBe(long)
    expect(await through('Parquet', `PAR1${long}PAR1`)).toHaveLength(long.length + 8)
    expect(await through('CSVWithNames', '')).toBe('')
    expect(await through('CSVWithNames', `"a"\n"Code: 1. DB::Exception: in a log line"\n"b"\n`)).toContain('"b"')
  })

  it.each([
    ['CSVWithNames', `"a"\n1\n${error}`, undefined],
    ['CSVWithNames', `"a"\n1\n\r\n__exception__\r\nabcd\r\n${error}99 abcd\r\n__exception__\r\n`, 'abcd'],
    ['Parquet', `PAR1…${error}`, undefined],
    ['Parquet', 'PAR1…', undefined],
  ] as const)('of %s fails where it is not: %j', async (format, text, tag) => {
    await expect(through(format, text, tag)).rejects.toThrow('ended in an error')
  })
})

describe('what ClickHouse says', () => {
  it.each([
    ['Unknown expression identifier `nn` in scope SELECT nn FROM t. ', 'Unknown expression identifier `nn`'],
    [
      'Unknown expression identifier `amont` in scope SELECT amont FROM x. Maybe you meant: [`amount`]. ',
      'Unknown expression identifier `amont`. Maybe you meant: [`amount`]',
    ],
    [
      'analyst_acme: Not enough privileges. To execute this query, … ',
      'Not enough privileges. To execute this query, …',
    ],
    ['Received from ch-1.internal:9000. DB::Exception: Table weir.x does not exist. ', 'Table weir.x does not exist'],
    ['Cannot parse: While executing MergeTreeSelect(pool: ReadPool). ', 'Cannot parse'],
    ['', 'ClickHouse refuses this query without a reason'],
  ])('%j is shortened', (given, said) => {
    expect(shorten(given)).toBe(said)
  })

  it('has a status of its own by its code; what is not about the query has none', () => {
    const of = (code: unknown) =>
      toRefusal(Object.assign(new Error('x'), { code }), { orgId: 'acme', password: 'x' })?.status
    expect(['47', '62', '497', '516', '159', '241', '202'].map(of)).toEqual([400, 400, 400, 403, 504, 503, 503])
    const who = (password: string) =>
      toRefusal(Object.assign(new Error('x'), { code: 516 }), { orgId: 'acme', password })?.message
    expect(who('x')).toMatch(/^ClickHouse does not let analyst_acme in .*: weir analysts create --org acme$/)
    expect(who('masked-x')).toMatch(/ let analyst_acme_masked in .*: weir analysts create --org acme --masked$/)
    expect(['ECONNREFUSED', undefined, '210', '1002'].map(of)).toEqual([undefined, undefined, undefined, undefined])
  })
})
