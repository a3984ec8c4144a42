import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import type { Bytes } from '../../../clients/uploader/read/bytes.js'
import { readCsv } from '../../../clients/uploader/read/csv.js'
import { readJsonArray } from '../../../clients/uploader/read/json-array.js'
import { readNdjson } from '../../../clients/uploader/read/ndjson.js'
import { formOf, openRows } from '../../../clients/uploader/read/open-rows.js'
import type { FileRows, Row } from '../../../clients/uploader/read/row.js'
import { toChunks } from '../../../clients/uploader/send/chunks.js'

const folder = mkdtempSync(join(tmpdir(), 'weir reading '))
afterAll(() => rmSync(folder, { recursive: true }))

/** Bytes that arrive in pieces of any size. */
const inPieces = (text: string | Buffer, piece = 5): Bytes => {
  const all = Buffer.from(text)
  return {
    read: () => 0,
    from: async function* (offset) {
      for (let at = offset; at < all.length; at += piece) yield all.subarray(at, at + piece)
    },
  }
}
const allOf = async ({ blocks }: FileRows): Promise<Row[]> => {
  const rows: Row[] = []
  for await (const block of blocks) rows.push(...block)
  return rows
}
const brief = (rows: Row[]) => rows.map(({ line, given, unreadable }) => [line, unreadable ?? given])

const cell = fc.oneof(fc.string(), fc.constantFrom('', 'a', '"', 'x,y', 'two\nlines', 'crlf\r\nhere', 'ü€😀', ' '))
const table = fc
  .tuple(fc.integer({ min: 2, max: 4 }), fc.constantFrom('\n', '\r\n'), fc.boolean(), fc.boolean())
  .chain(([width, newline, hasMark, endsInNewline]) =>
    fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 12 }).map((rows) => ({
      newline,
      hasMark,
      endsInNewline,
      rows: [Array.from({ length: width }, (_, i) => `c${i}`), ...rows],
    })),
  )
/** Every cell in quotes: what is written this way can be read back by anybody. */
const toCsv = ({ rows, newline, hasMark, endsInNewline }: { [Key in keyof Table]: Table[Key] }): string => {
  const lines = rows.map((cells) => cells.map((text) => `"${text.replaceAll('"', '""')}"`).join(','))
  return (hasMark ? '\ufeff' : '') + lines.join(newline) + (endsInNewline ? newline : '')
}
type Table = { rows: string[][]; newline: string; hasMark: boolean; endsInNewline: boolean }
const linesIn = (text: string) => text.split('\n').length

describe('CSV', () => {
  it('is read as it was written, with the line of each row, whatever pieces it arrives in', async () => {
    await fc.assert(
      fc.asyncProperty(table, fc.integer({ min: 1, max: 40 }), async (given, piece) => {
        const { columns, blocks } = await readCsv(inPieces(toCsv(given), piece))
        const [header, ...rows] = given.rows
        expect(columns).toEqual(header)
        let line = 2
        const expected = rows.map((cells) => {
          const here = line
          line += cells.reduce((sum, text) => sum + linesIn(text) - 1, 1)
          return [here, cells]
        })
        expect(brief(await allOf({ blocks }))).toEqual(expected)
      }),
      { numRuns: 300 },
    )
  })

  it('is read the same from the end of any row on', async () => {
    const line = fc.stringMatching(/^[ab"',;\r é]{0,12}$/)
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 12 }), fc.integer({ min: 1, max: 40 }), async (lines, piece) => {
        const text = `a,b\n${lines.join('\n')}`
        const whole = await allOf(await readCsv(inPieces(text, 3)))
        for (const [i, row] of whole.entries()) {
          const from = { offset: row.end, line: row.nextLine }
          expect(await allOf(await readCsv(inPieces(text, piece), from))).toEqual(whole.slice(i + 1))
        }
        // Nothing is lost between two rows but blank lines.
        const between = whole.map(({ end }, i) => [whole[i - 1]?.end ?? 4, end] as const)
        const bytes = Buffer.from(text)
        const kept = between.map(([from, to]) => bytes.subarray(from, to).toString()).join('')
        expect(kept.replaceAll(/[\r\n]/g, '')).toBe(text.slice(4).replaceAll(/[\r\n]/g, ''))
      }),
      { numRuns: 300 },
    )
  })

  it('takes a line with a fault for one unreadable row, and goes on behind it', async () => {
    const text = 'a,b\r\n1,2\r\n"open,3\r\n4,5\r\n\r\n6,b"c\r\n7,8,9\r\n10\r\n"x"y,1\r\n11,12\r\n"last,'
    const rows = brief(await allOf(await readCsv(inPieces(text))))
    expect(rows).toEqual([
      [2, ['1', '2']],
      [3, expect.stringMatching(/quote/)],
      [4, ['4', '5']],
      [6, expect.stringMatching(/a quote stands in the middle/)],
      [7, 'this row has 3 cells and there are 2 columns; the further cells are: "9"'],
      [8, 'this row has 1 cells and there are 2 columns'],
      [9, expect.stringMatching(/a closing quote is followed/)],
      [10, ['11', '12']],
      [11, expect.stringMatching(/never closed/)],
    ])
  })

  it('does not slow down with the number of faults', async () => {
    const text = `a,b\n${'1,5" nail\n'.repeat(5000)}2,3\n`
    const rows = await allOf(await readCsv(inPieces(text, 65_536)))
    expect(rows.filter(({ unreadable }) => unreadable)).toHaveLength(5000)
    expect(rows.at(-1)).toMatchObject({ line: 5002, given: ['2', '3'] })
  })

  it('refuses rows that are not UTF-8, and only those', async () => {
    const bytes = Buffer.concat([Buffer.from('a,b\n1,ok\n2,'), Buffer.from([0xe9]), Buffer.from('\n3,ok\n')])
    expect(brief(await allOf(await readCsv(inPieces(bytes))))).toEqual([
      [2, ['1', 'ok']],
      [3, expect.stringMatching(/^this is not valid UTF-8: save the file as UTF-8, or say/)],
      [4, ['3', 'ok']],
    ])
  })

  it('may have another separator, and a first line that names it', async () => {
    for (const [start, line] of [
      ['', 2],
      ['sep=;\r\n', 3],
      ['\ufeffsep=;\n', 3],
    ] as const)
      for (const piece of [1, 3, 100]) {
        const text = `${start}a;b;c\n1,5;"x;\ny";z\n2;3;4\n`
        const { columns, blocks } = await readCsv(inPieces(text, piece), undefined, ';')
        expect(columns).toEqual(['a', 'b', 'c'])
        const rows = await allOf({ blocks })
        expect(brief(rows)).toEqual([
          [line, ['1,5', 'x;\ny', 'z']],
          [line + 2, ['2', '3', '4']],
        ])
        const from = { offset: rows[0]?.end ?? 0, line: rows[0]?.nextLine ?? 0 }
        expect(await allOf(await readCsv(inPieces(text, piece), from, ';'))).toEqual(rows.slice(1))
      }
  })

  it('has no rows where there is nothing, or only a header', async () => {
    expect(await allOf(await readCsv(inPieces('')))).toEqual([])
    expect(await readCsv(inPieces('a,b')).then(async (rows) => [rows.columns, await allOf(rows)])).toEqual([
      ['a', 'b'],
      [],
    ])
  })
})

const json = fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null)))

describe('NDJSON', () => {
  it('is read as JSON.parse reads each line, from any row on', async () => {
    const line = fc.oneof(
      json.map((value) => JSON.stringify(value)),
      fc.constantFrom('', '  ', '{', 'x', '[1]', '7'),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 10 }),
        fc.constantFrom('\n', '\r\n'),
        fc.integer({ min: 1, max: 30 }),
        async (lines, newline, piece) => {
          const text = lines.join(newline)
          const rows = await allOf(readNdjson(inPieces(text, piece)))
          const expected = lines.flatMap((each, i) => (each.trim() === '' ? [] : [[i + 1, parsed(each)]]))
          expect(rows.map(({ line: at, given, unreadable }) => [at, unreadable ? undefined : given])).toEqual(expected)
          for (const [i, row] of rows.entries()) {
            const from = { offset: row.end, line: row.nextLine }
            expect(await allOf(readNdjson(inPieces(text, piece), from))).toEqual(rows.slice(i + 1))
          }
        },
      ),
    )
  })

  it('refuses a record with a name that stands twice, of which one value would vanish', async () => {
    const lines = [
      '{"a":1,"a":2}',
      '{"a" : {"b":1,"b":2}}',
      '{"a":1,"\\u0061":2}',
      '{"a":"\\"a\\":","b":[{"a":1}]}',
      '{"a" :1}',
    ]
    const rows = await allOf(readNdjson(inPieces(lines.join('\n'))))
    expect(rows.map(({ unreadable }) => unreadable !== undefined)).toEqual([true, true, true, false, false])
  })

  it('refuses a number that would be sent as another one', async () => {
    const text = '{"a":12345678901234567890}\n{"a":0.1000000000000000000}\n{"a":"12345678901234567890"}\n{"a":1e400}'
    const rows = await allOf(readNdjson(inPieces(text)))
    expect(rows.map(({ unreadable }) => unreadable !== undefined)).toEqual([true, false, false, false])
  })
})

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

describe('a JSON array', () => {
  it('is read as JSON.parse reads it, whatever its spacing, from any row on', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(json, fc.array(fc.string()), fc.string()), { maxLength: 8 }),
        fc.constantFrom(undefined, 1, 2),
        fc.boolean(),
        fc.integer({ min: 1, max: 30 }),
        async (values, indent, isBody, piece) => {
          const text = JSON.stringify(isBody ? { records: values } : values, null, indent)
          const rows = await allOf(readJsonArray(inPieces(text, piece)))
          expect(rows.map(({ given }) => given)).toEqual(values)
          expect(rows.map(({ record }) => record)).toEqual(values.map((_, i) => i + 1))
          for (const [i, row] of rows.entries()) {
            const from = { offset: row.end, line: row.nextLine, records: i + 1 }
            expect(await allOf(readJsonArray(inPieces(text, piece), from))).toEqual(rows.slice(i + 1))
          }
        },
      ),
    )
  })

  it('says the line of each record, and which one it cannot read', async () => {
    const text = '[\n  {"a": 1},\n\n  {"a": },\n  {"a": "]"}\n'
    expect(brief(await allOf(readJsonArray(inPieces(text))))).toEqual([
      [2, { a: 1 }],
      [4, expect.stringMatching(/^this is not valid JSON/)],
      [5, expect.stringMatching(/^the file ends before the array does/)],
    ])
    await expect(allOf(readJsonArray(inPieces('"shops"')))).rejects.toThrow(/has to begin with \[/)
  })
})

it('tells what a file is by its name, or by its bytes, and reads it gzipped as well', async () => {
  const contents = { csv: 'a,b\n1,2\n', ndjson: '{"a":"1"}\n', json: '[{"a":"1"}]' }
  for (const [format, text] of Object.entries(contents)) {
    for (const name of [`shops.${format}`, 'a file without an ending']) {
      const file = join(folder, name)
      writeFileSync(file, text)
      expect(await formOf(file)).toEqual({ format, gzipped: false })
      const plain = await allOf(await openRows(file, await formOf(file)))
      writeFileSync(file, gzipSync(text))
      expect(await formOf(file)).toEqual({ format, gzipped: true })
      expect(await allOf(await openRows(file, await formOf(file)))).toEqual(plain)
    }
  }
})

it('cuts a file at the same places from any chunk on', async () => {
  const lengths = fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 1, maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(
      lengths,
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 60 }),
      fc.constantFrom({}, { first: 1 }, { first: 2 }),
      async (given, records, bytes, first) => {
        const text = given.map((length) => JSON.stringify('x'.repeat(length))).join('\n')
        const cut = async (offset: number, line: number, before: number, piece: number) => {
          const chunks = []
          for await (const chunk of toChunks(
            readNdjson(inPieces(text, piece), { offset, line }),
            { records, bytes, ...first },
            { offset, records: before },
          ))
            chunks.push(chunk)
          return chunks
        }
        const whole = await cut(0, 1, 0, 7)
        expect(whole.flatMap(({ rows }) => rows)).toHaveLength(given.length)
        for (const [i, { to, nextLine, before, rows }] of whole.entries())
          expect(await cut(to, nextLine, before + rows.length, 11)).toEqual(whole.slice(i + 1))
      },
    ),
  )
})
