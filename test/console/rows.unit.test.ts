import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mended } from '../../clients/console/components/record-form.js'
import { parseExactly } from '../../clients/console/rows/cells.js'
import { createCsvReader } from '../../clients/console/rows/csv.js'
import { formatOf, lookAt, openFile } from '../../clients/console/rows/read-file.js'
import { createToRecord, type FileReading, problemOf } from '../../clients/console/rows/reading.js'
import { refusedFile } from '../../clients/console/rows/refused-file.js'
import type { TypeReference } from '../../clients/typescript/src/endpoints.js'
import { plainDialect } from '../../clients/typescript/src/files/dialect.js'
import { isExact } from '../../clients/typescript/src/files/exact.js'
import { typeReferences } from './pretend/world.js'

const offers = typeReferences().find(({ type }) => type === 'offers') as unknown as TypeReference

const rowsOf = async (name: string, text: string | Uint8Array<ArrayBuffer>, reading?: FileReading) => {
  const opened = await openFile(new File([text], name), offers, reading)
  const rows = []
  for await (const row of opened.rows()) rows.push(row)
  return { ...opened, rows }
}

describe('CSV', () => {
  const cell = fc.string({ unit: fc.constantFrom('a', 'é', '😀', ' ', ',', '"', '\n', '\r\n', "'") })

  it('comes out as it was written, wherever the text is cut', () => {
    const table = fc.array(fc.tuple(fc.constant('x'), cell, cell), { minLength: 1 })
    fc.assert(
      fc.property(
        table,
        fc.constantFrom('\n', '\r\n'),
        fc.boolean(),
        fc.integer({ min: 1, max: 7 }),
        (rows, end, isEnded, step) => {
          const quoted = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
          const text = rows.map((row) => row.map(quoted).join(',')).join(end) + (isEnded ? end : '')
          const reader = createCsvReader()
          const found = []
          for (let at = 0; at < text.length; at += step) found.push(...reader.take(text.slice(at, at + step)))
          found.push(...reader.end())
          expect(found.map(({ cells }) => cells)).toEqual(rows)
          expect(found.every(({ fault }) => fault === undefined)).toBe(true)
        },
      ),
    )
  })

  it('tells the line of a row that breaks the rules, and reads on after it', () => {
    const reader = createCsvReader()
    const found = [...reader.take('a,b\n1,x"y\n2,"ok"z\n3,fine\n4,"open\n5,fine\n'), ...reader.end()]
    expect(found.map(({ line, fault }) => [line, fault !== undefined])).toEqual([
      [1, false],
      [2, true],
      [3, true],
      [4, false],
      [5, true],
      [6, false],
    ])
    expect(found.at(-1)?.cells).toEqual(['5', 'fine'])
  })
})

describe('a file', () => {
  it('is typed by the catalogue; a cell that does not fit stays text, an empty one is absent', async () => {
    const { rows, columns } = await rowsOf(
      'offers.csv',
      '\ufeffoffer_id,value,is_enabled,region,colour\nx,10.50,true,GB,red\ny,ten,yes,,\n',
    )
    expect(columns).toEqual(['offer_id', 'value', 'is_enabled', 'region', 'colour'])
    expect(rows.map(({ record, line }) => [line, record])).toEqual([
      [2, { offer_id: 'x', value: 10.5, is_enabled: true, region: 'GB', colour: 'red' }],
      [3, { offer_id: 'y', value: 'ten', is_enabled: 'yes' }],
    ])
  })

  it('has faults where a row has another number of cells, or a line is not JSON', async () => {
    const csv = await rowsOf('offers.csv', 'offer_id,value\na\nb,1,2\nc,3\n')
    expect(csv.rows.map(({ fault }) => fault !== undefined)).toEqual([true, true, false])
    const ndjson = await rowsOf('offers.ndjson', '{"offer_id":"a"}\n{oops\n\n{"offer_id":"b"}')
    expect(ndjson.rows.map(({ line, fault }) => [line, fault !== undefined])).toEqual([
      [1, false],
      [2, true],
      [4, false],
    ])
  })

  it.each([
    ['[{"offer_id":"a"},{"offer_id":"b"}]', 2],
    ['{"records":[{"offer_id":"a"}]}', 1],
    ['{\n"offer_id":"a"\n}', 1],
  ])('is read as JSON: %s', async (text, count) => {
    const { rows } = await rowsOf('offers.json', text)
    expect(rows).toHaveLength(count)
    expect(rows[0]?.record).toEqual({ offer_id: 'a' })
  })

  it('is refused where it is not UTF-8, empty, or no JSON', async () => {
    await expect(rowsOf('offers.csv', new Uint8Array([97, 44, 98, 10, 0xff, 0xfe, 10]))).rejects.toThrow(
      'save it as UTF-8',
    )
    await expect(rowsOf('offers.csv', '')).rejects.toThrow('empty')
    await expect(rowsOf('offers.json', '[1,')).rejects.toThrow('not JSON')
  })

  it('is unpacked where it is packed, and told by what is in it', async () => {
    const pack = (text: string) => new Uint8Array(gzipSync(text))
    const { rows, format } = await rowsOf('offers.csv.gz', pack('offer_id,value\na,1\n'))
    expect([format, rows.map(({ record }) => record)]).toEqual(['CSV', [{ offer_id: 'a', value: 1 }]])
    expect((await rowsOf('offers.gz', pack('[{"offer_id":"a"}]'))).format).toBe('JSON')
    const long = pack(`offer_id,value\n${Array.from({ length: 5000 }, () => `${crypto.randomUUID()},1\n`).join('')}`)
    await expect(rowsOf('offers.csv.gz', long.slice(0, -20_000))).rejects.toThrow('no whole gzip file')
  })

  it('is refused with advice where it is a workbook', async () => {
    await expect(rowsOf('Offers 2026.XLSX', 'PK')).rejects.toThrow('save it as "CSV UTF-8"')
  })

  it('is known by its name, or by how it begins', () => {
    expect(formatOf('a.CSV', '[')).toBe('CSV')
    expect(formatOf('a.jsonl', '')).toBe('NDJSON')
    expect(formatOf('a.txt', '{"a":1}\n{"a":2}')).toBe('NDJSON')
    expect(formatOf('a.json', '{"records":[]}')).toBe('JSON')
    expect(formatOf('a', 'x,y\n')).toBe('CSV')
  })
})

describe('numbers', () => {
  it('are exact where they survive reading and writing', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(isExact(String(value))).toBe(true)
      }),
    )
    expect(isExact('10.50')).toBe(true)
    expect(isExact('9007199254740993')).toBe(false)
    expect(isExact('0.1000000000000000055511151231257827')).toBe(false)
    expect(isExact('1e400')).toBe(false)
  })

  it('stay text in a cell where they are not', () => {
    expect(createToRecord(offers, ['value'])(['9007199254740993'])).toEqual({ value: '9007199254740993' })
    expect(createToRecord(offers, ['value'])(['007'])).toEqual({ value: '007' })
    expect(parseExactly('{"value": 12.5, "name": "1234567890123456789"}')).toEqual({
      value: 12.5,
      name: '1234567890123456789',
    })
  })
})

describe('a file from a spreadsheet', () => {
  const bytesOf = (text: string, encoding: string): Uint8Array<ArrayBuffer> => {
    if (encoding === 'utf-16le') return new Uint8Array(Buffer.from(`\ufeff${text}`, 'utf16le'))
    if (encoding === 'utf-8') return new Uint8Array(Buffer.from(text))
    return new Uint8Array(Buffer.from(text.replaceAll('€', '\x80'), 'latin1'))
  }
  const german = 'sep=;\r\nOffer ID;Name;Value;Created;Farbe\r\na;5 €;1.234,50;31.05.2024 12:00;rot\r\n'

  it.each(['utf-8', 'utf-16le'])('in %s is taken for what it can only be', async (encoding) => {
    const look = await lookAt(new File([bytesOf(german, encoding)], 'offers.csv'), offers, { dialect: {} })
    expect(look).toMatchObject({
      format: 'CSV',
      columns: ['Offer ID', 'Name', 'Value', 'Created', 'Farbe'],
      fields: ['offer_id', 'name', 'value', 'created', ''],
      samples: ['a', '5 €', '1.234,50', '31.05.2024 12:00', 'rot'],
      found: {
        encoding: { is: encoding },
        delimiter: { is: ';' },
        decimal: { is: ',' },
        dates: { is: 'DD.MM.YYYY' },
      },
      withoutZone: '31.05.2024 12:00',
    })
  })

  it('is asked about where it is not certain, and read as people say', async () => {
    const file = new File(
      [bytesOf('offer_id;value;created\na;1,234;01/02/2024 10:00\nb é;2;x\n', 'latin1')],
      'offers.csv',
    )
    const found = async (dialect = {}) => (await lookAt(file, offers, { dialect })).found
    expect(await found()).toMatchObject({
      encoding: { either: ['windows-1252', 'utf-8'] },
      decimal: { either: [',', '.'] },
    })
    expect(await found({ encoding: 'windows-1252', decimal: ',' })).toMatchObject({ encoding: { is: 'windows-1252' } })
    const two = new File(['one;two,three\n1;2,3\n'], 'offers.csv')
    expect(await lookAt(two, offers, { dialect: {} })).toMatchObject({
      columns: undefined,
      found: { delimiter: { either: [',', ';'] } },
    })
    expect((await lookAt(two, offers, { dialect: { delimiter: ';' } })).columns).toEqual(['one', 'two,three'])
  })

  it('gives records as its columns are mapped, with one value for all and times of a zone, and takes its refused rows back', async () => {
    const reading = {
      dialect: { encoding: 'windows-1252', delimiter: ';', decimal: ',' as const, dates: 'DD.MM.YYYY' },
      fields: ['offer_id', 'name', 'value', 'created', ''],
      constants: { region: 'GB', is_enabled: 'true' },
      zone: 'Europe/Berlin',
    }
    const { rows, columns } = await rowsOf('offers.csv', bytesOf(german, 'windows-1252'), reading)
    const record = {
      offer_id: 'a',
      name: '5 €',
      value: 1234.5,
      created: '2024-05-31T10:00:00Z',
      region: 'GB',
      is_enabled: true,
    }
    expect(rows.map((row) => [row.line, row.record])).toEqual([[3, record]])
    const problems = [{ code: 'missing_field' as const, field: 'type', message: 'type is required' }]
    const refused = refusedFile(
      columns,
      rows.map((row) => ({ row, problems })),
      reading.dialect,
    )
    const back = new File([refused], 'offers.csv')
    const look = await lookAt(back, offers, { dialect: {} })
    expect(look.found.encoding).toEqual({ is: 'utf-8' })
    expect(look.fields).toEqual(reading.fields)
    const again = await rowsOf('offers.csv', new Uint8Array(await back.arrayBuffer()), {
      ...reading,
      dialect: { ...reading.dialect, encoding: 'utf-8' },
    })
    expect(again.rows.map((row) => row.record)).toEqual([record])
  })

  it('is not read where two columns would be one field, or a column and one value for all', () => {
    const reading = { dialect: plainDialect, fields: ['name', 'name'], constants: {} }
    expect(problemOf(offers, reading)).toMatch('Two columns would be name')
    expect(problemOf(offers, { ...reading, fields: ['name', ''], constants: { name: 'x' } })).toMatch(
      'A column is name',
    )
    expect(problemOf(offers, { ...reading, fields: ['name', ''] })).toBeUndefined()
  })
})

it('writes the refused rows as a file that says why', async () => {
  const { rows, columns } = await rowsOf('offers.csv', 'offer_id,name\na,"x, ""y"""\n')
  const refused = rows.map((row) => ({
    row,
    problems: [{ code: 'missing_field' as const, field: 'value', message: 'value is required' }],
  }))
  expect(await refusedFile(columns, refused).text()).toBe(
    'offer_id,name,weir_line,weir_code,weir_field,weir_message\na,"x, ""y""",2,missing_field,value,value is required\n',
  )
})

it('takes its own file of refused rows back, without the remarks, and as it was before it was made harmless for Excel', async () => {
  const problems = [{ code: 'missing_field' as const, field: 'value', message: '=1 is no value' }]
  const given = ['=1+1', '+44', '-1.5', '-x', '@me', "'=1", "'tis", '\tx', "''@"]
  const { rows, columns } = await rowsOf(
    'offers.csv',
    `offer_id,name\n${given.map((cell) => `a,"${cell}"\n`).join('')}`,
  )
  const refused = await refusedFile(
    columns,
    rows.map((row) => ({ row, problems })),
  ).text()
  expect(refused).not.toMatch(/(^|,)"?([=+@\t]|-x)/m)
  expect(refused).toMatch(/,-1\.5,/)
  const again = await rowsOf('offers.csv', refused)
  expect(again.rows.map(({ record }) => record)).toEqual(given.map((name) => ({ offer_id: 'a', name })))
  expect(
    await refusedFile(
      again.columns,
      again.rows.map((row) => ({ row: { ...row, line: row.line }, problems })),
    ).text(),
  ).toBe(refused)
  const ordinary = await rowsOf('offers.csv', "offer_id,name\na,'=1\n")
  expect(ordinary.rows[0]?.record).toEqual({ offer_id: 'a', name: "'=1" })
})

it('sends a mended record with what was touched, and leaves the rest as it was', () => {
  const record = { offer_id: 'a', value: '10', name: 'Ten', is_enabled: true, colour: 'red' }
  const values = { offer_id: 'a', value: '10', name: '', is_enabled: 'true', region: 'GB' }
  expect(mended(offers, record, values)).toEqual({ offer_id: 'a', value: 10, is_enabled: true, region: 'GB' })
})
