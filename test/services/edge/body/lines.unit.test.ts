import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createBatchCodec } from '#schemas/byte-path/byte-path.js'
import { catalogue } from '#schemas/catalogue.js'
import { longestLine } from '#schemas/csv-rows.js'
import { boolean, choice, date, instant, moment, number, optional, text, uuid } from '#schemas/field.js'
import { type RecordType, record } from '#schemas/record.js'
import { shop } from '#schemas/records/shop.js'
import { transaction } from '#schemas/records/transaction.js'
import { toBatches } from '../../../../services/edge/batches/batches.js'
import { createToEntry, type Entry } from '../../../../services/edge/batches/entries.js'
import { createOpenCsv } from '../../../../services/edge/body/csv.js'
import { findLoss } from '../../../../services/edge/body/json-exact.js'
import { createOpenNdjson } from '../../../../services/edge/body/ndjson.js'
import { anyRecordText, maybeSpoilt } from '../../../support/any-json.js'
import { anyPieces, csvOf, csvRow, ndjsonOf, readInPieces } from '../../../support/lined.js'
import { badValuesOf, sampleOf } from '../../../support/sample.js'
import { sentAs } from '../../../support/sent-as.js'
import { sized } from '../../../support/sized.js'

const allKinds = record({
  type: 'everything',
  id: 'a',
  about: 'A field of each kind.',
  fields: {
    a: uuid(),
    ab: text('', { longest: 40 }),
    b: moment(),
    c: optional(moment()),
    d: date(),
    e: choice(['ONE', 'TWO']),
    g: boolean(),
    h: optional(instant()),
    i: number({ min: -1, max: 100 }),
  },
})

describe.each([...catalogue.uploads.values(), allKinds])('$type', (type) => {
  const toEntry = createToEntry(type)
  const openNdjson = createOpenNdjson(type, toEntry)
  const openCsv = createOpenCsv(type, toEntry)
  const { encode } = createBatchCodec(type)
  const facts = { orgId: 'acme', requestId: 'r', bodySha256: Buffer.alloc(32), submittedAt: 0 }
  const published = (entries: readonly Entry[]) =>
    toBatches([[...entries]], facts).map((batch) => encode(batch).toString('latin1'))

  /** What becomes of a refused record that is submitted again as its rejection keeps it. */
  const retried = (entry: Entry): Entry => {
    if (!('refusal' in entry) || entry.refusal.truncated) return entry
    const { record } = entry.refusal
    return toEntry(JSON.parse(record), () => Buffer.from(record))
  }

  const read = async (open: typeof openCsv, body: string | Buffer, pieces?: readonly number[]) => {
    const found = await readInPieces(open, Buffer.from(body), pieces)
    if ('error' in found) throw new Error(found.error)
    return found
  }

  it('is the same from NDJSON as from JSON, whatever is on the lines and however they are cut', async () => {
    const seen = { accepted: 0, refused: 0, unreadable: 0 }
    const lines = fc.array(
      anyRecordText(type).map((given) => given.replaceAll(/[\n\r]/g, ' ')),
      { minLength: 1, maxLength: 4 },
    )
    await fc.assert(
      fc.asyncProperty(lines, anyPieces, fc.constantFrom('\n', '\r\n', '\n\n'), async (given, pieces, end) => {
        const { entries, lines: found } = await read(openNdjson, given.join(end), pieces)
        expect(found).toEqual(given.map((_, n) => 1 + n * (end === '\n\n' ? 2 : 1)))
        given.forEach((line, n) => {
          const entry = entries[n] as Entry
          const json = parseExactly(line)
          if (json) expect(published([entry])).toEqual(published([toEntry(json.value, () => Buffer.from(line.trim()))]))
          else expect(codesOf(entry)).toEqual(['unreadable'])
          if (json) expect(retried(entry)).toEqual(entry)
          seen['refusal' in entry ? (json ? 'refused' : 'unreadable') : 'accepted']++
        })
      }),
      { numRuns: sized(50, 150) },
    )
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(5)
  })

  it('is the same from CSV as from JSON', async () => {
    const seen = { accepted: 0, refused: 0 }
    const names = Object.keys(type.fields)
    const good = fc.constant(0).map(() => sampleOf(type))
    const values = anyRecordText(type).map((given) => parseExactly(given)?.value)
    const records = fc.array(
      fc.oneof(
        good,
        values.filter((value) => isFlat(value)),
      ),
      { minLength: 1, maxLength: 4 },
    )
    await fc.assert(
      fc.asyncProperty(
        records,
        fc.shuffledSubarray(names, { minLength: names.length }),
        fc.func(fc.boolean()),
        anyPieces,
        async (given, header, isQuoted, pieces) => {
          const columns = [...new Set([...header, ...given.flatMap((one) => Object.keys(one as object))])]
          const rows = given.map((one) => columns.map((name) => (one as Record<string, unknown>)[name]))
          const csv = [columns, ...rows].map((row) => csvRow(row, (n) => isQuoted(n))).join('\n')
          const { entries } = await read(openCsv, csv, pieces)
          given.forEach((one, n) => {
            const entry = entries[n] as Entry
            const cells = asCells(type, columns, one as Record<string, unknown>)
            const same = toEntry(cells, sentAs(cells))
            seen['refusal' in same ? 'refused' : 'accepted']++
            if (!('refusal' in entry)) expect(published([entry])).toEqual(published([same]))
            else if (!entry.refusal.truncated) {
              expect(same).toMatchObject({ refusal: { problems: entry.refusal.problems } })
              expect(JSON.parse(entry.refusal.record)).toEqual(cells)
              expect(retried(entry)).toEqual(entry)
            }
          })
        },
      ),
      { numRuns: sized(50, 150) },
    )
    expect(seen.accepted).toBeGreaterThan(20)
  })

  it.each(Object.entries(type.fields))('refuses a bad %s in CSV with the same code as in JSON', async (name, field) => {
    const bad = badValuesOf(field).filter(
      ([value, code]) => (typeof value === 'string' || code === 'out_of_range') && value !== '' && value !== 'a\ud800b',
    )
    const isAlike = ([value]: (typeof bad)[number]) =>
      // In CSV these are of the right type.
      !(['number', 'moment', 'boolean'].includes(field.kind) && typeof value === 'string')
    const cases = bad.filter(isAlike)
    const { entries } = await read(
      openCsv,
      csvOf(
        type,
        cases.map(([value]) => sampleOf(type, { [name]: value })),
      ),
    )
    expect(entries.map(codesOf)).toEqual(
      cases.map(([value, code]) => [value === Number.POSITIVE_INFINITY ? 'wrong_type' : code]),
    )
  })

  it('gives the same records and lines in pieces as at once, however spoilt', async () => {
    const good = csvOf(type, [sampleOf(type), sampleOf(type, {}, { onlyRequired: true }), sampleOf(type)])
    const [header = '', ...rows] = good.split(/(?<=\n)/)
    const body = maybeSpoilt(
      fc
        .shuffledSubarray([...rows, '\n', '"\n', ',,"",\n', '"x"y\n', '\r\n', '\u0000\n'])
        .map((some) => Buffer.from(some.join(''))),
    )
    await fc.assert(
      fc.asyncProperty(body, anyPieces, async (bytes, pieces) => {
        for (const [open, whole] of [
          [openCsv, Buffer.concat([Buffer.from(header), bytes])],
          [openNdjson, bytes],
        ] as const) {
          const atOnce = await read(open, whole)
          const inPieces = await read(open, whole, pieces)
          expect(inPieces.lines).toEqual(atOnce.lines)
          expect(published(inPieces.entries)).toEqual(published(atOnce.entries))
        }
      }),
      { numRuns: sized(20, 60) },
    )
  })
})

const codesOf = (entry: Entry): string[] => ('refusal' in entry ? entry.refusal.problems.map(({ code }) => code) : [])

const parseExactly = (line: string): { value: unknown } | undefined => {
  try {
    const value: unknown = JSON.parse(line)
    return findLoss(line) ? undefined : { value }
  } catch {
    return undefined
  }
}

/** Whether a record can be written as CSV and mean the same: no lists, and text nowhere but in columns of text. */
const isFlat = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.keys(value).length > 0 &&
  Object.values(value).every((one) => typeof one !== 'object' || one === null) &&
  !/\\u(?:d[89a-f]|0000)|\r/.test(JSON.stringify(value)) &&
  !Object.values(value).some((one) => typeof one === 'string' && (one !== one.toWellFormed() || one.includes('\r')))

/** The record that a CSV means: a cell has no type but that of its column, and an empty one is no cell. */
const asCells = (type: RecordType, columns: readonly string[], given: Record<string, unknown>) =>
  Object.fromEntries(
    columns.flatMap((name) => {
      const text = csvRow([given[name]]).replaceAll(/^"|"$/g, '').replaceAll('""', '"')
      if (text === '') return []
      const kind = Object.hasOwn(type.fields, name) ? type.fields[name]?.kind : undefined
      const value = parseExactly(text)?.value
      const isTyped =
        kind === 'boolean'
          ? typeof value === 'boolean'
          : (kind === 'number' || kind === 'moment') && typeof value === 'number'
      return [[name, isTyped && text.trim() === text ? value : text]]
    }),
  )

describe('lines', () => {
  const ndjson = createOpenNdjson(shop, createToEntry(shop))
  const csv = createOpenCsv(shop, createToEntry(shop))
  const errorOf = async (open: typeof csv, body: string | Buffer) => {
    const found = await readInPieces(open, Buffer.from(body))
    return 'error' in found ? found.error : undefined
  }
  const outcomes = async (open: typeof csv, body: string | Buffer, pieces?: number[]) => {
    const found = await readInPieces(open, Buffer.from(body), pieces)
    if ('error' in found) throw new Error(found.error)
    return found.entries.map((entry, n) => [
      found.lines[n],
      'refusal' in entry ? (entry.refusal.problems[0]?.message ?? '') : 'ok',
    ])
  }
  const good = JSON.stringify(sampleOf(shop))
  const id = String(sampleOf(shop).shop_id)

  it('count from 1, with blank ones, a mark before the first and none after the last', async () => {
    expect(await outcomes(ndjson, `\ufeff\n${good}\r\n \t\r\n${good}`)).toEqual([
      [2, 'ok'],
      [4, 'ok'],
    ])
    expect(await outcomes(csv, `\ufeffshop_id,name,region\r\n\r\n${id},"two\nlines",GB\n${id},x,GB`)).toEqual([
      [3, 'ok'],
      [5, 'ok'],
    ])
  })

  it('are each refused where they are no record, and say why', async () => {
    const notUtf8 = Buffer.concat([Buffer.from('{"name": "'), Buffer.of(0xfc), Buffer.from('"}\n')])
    const body = Buffer.concat([
      Buffer.from(
        `${good}\n{"shop_id": \n7\n${good} ${good}\n{"name": 1, "name": 2}\n{"a": 1e-400}\n[${'[],'.repeat(2000)}1]\n`,
      ),
      notUtf8,
    ])
    expect(await outcomes(ndjson, body)).toEqual([
      [1, 'ok'],
      [2, 'the line is not valid JSON: a value was expected at column 13, where it ends'],
      [3, 'a record must be a JSON object'],
      [4, expect.stringMatching(/^the line is not valid JSON: the end was expected at column \d+, where/)],
      [5, 'the field name comes twice in one object (column 13)'],
      [6, 'a number is too close to zero to be kept as it is (column 7)'],
      [7, 'the line holds more than 1000 values or 200 names of fields'],
      [8, 'the line is not valid UTF-8; save the file as UTF-8'],
    ])
    expect(await outcomes(csv, `shop_id,name,region,colour\n${id},x,GB,\n${id},x,GB\n${id},x,GB,red\n`)).toEqual([
      [2, 'ok'],
      [3, 'the line has 3 cells where the header has 4'],
      [4, 'colour is not a field of shops'],
    ])
  })

  it('are no longer than a record can be, and one that is does not fill the memory', async () => {
    const long = 'x'.repeat(2 * longestLine)
    for (const pieces of [undefined, [64 * 1024]]) {
      expect(await outcomes(ndjson, `${long}\n${good}\n`, pieces)).toEqual([
        [1, expect.stringContaining('longer than 3145728 bytes')],
        [2, 'ok'],
      ])
      expect(await outcomes(csv, `shop_id,name,region\n${long}\n${id},x,GB\n`, pieces)).toEqual([
        [2, expect.stringContaining('longer than 3145728 bytes')],
        [3, 'ok'],
      ])
    }
  })

  it('are kept as text that is marked as cut off, so that nobody submits them again', async () => {
    const found = await readInPieces(ndjson, Buffer.from(`{"shop_id": \n${'y'.repeat(100_000)}`))
    if ('error' in found) throw new Error(found.error)
    expect(found.entries).toMatchObject([
      { refusal: { id: null, record: '{"shop_id": ', truncated: true } },
      { refusal: { id: null, record: 'y'.repeat(65_536), truncated: true } },
    ])
  })

  it('of a CSV need a header that names fields', async () => {
    expect(await errorOf(csv, '\n\n')).toContain('the CSV has no header')
    expect(await errorOf(csv, 'Shop Id,Title\n')).toContain(
      'names no field of shops ("Shop Id" may be shop_id); the fields are shop_id, name, ',
    )
    expect(await errorOf(csv, 'shop_id,name,shop_id\n')).toContain('names "shop_id" twice')
    expect(await errorOf(csv, 'shop_id;name;region\n')).toContain('is separated by ";"; separate its cells by commas')
    expect(await errorOf(csv, Buffer.from('\ufeffshop_id,name\n', 'utf16le'))).toContain('not valid UTF-8')
    expect(await errorOf(csv, `shop_id${',x'.repeat(300)}\n`)).toContain('more than 200 cells')
    expect(await errorOf(csv, '"shop_id,name\n')).toContain('cannot be read: a quote is opened and never closed')
  })

  it('hold a record that was written over several lines nowhere', async () => {
    const codes = await outcomes(ndjson, JSON.stringify(sampleOf(transaction), null, 1))
    expect(codes.every(([, message]) => message !== 'ok')).toBe(true)
    expect(await outcomes(ndjson, ndjsonOf([sampleOf(shop), sampleOf(shop)]))).toHaveLength(2)
  })
})
