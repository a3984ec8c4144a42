import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { catalogue } from '#schemas/catalogue.js'
import { date, instant } from '#schemas/field.js'
import type { RecordType } from '#schemas/record.js'
import { createToIso, type Dialect, notPlain, withPoint } from '../../../clients/typescript/src/files/dialect.js'
import { createInFlight, type Weir, WeirError } from '../../../clients/typescript/src/index.js'
import { readDateFormat, readDelimiter, readEncoding } from '../../../clients/uploader/read/dialect.js'
import { openRows } from '../../../clients/uploader/read/open-rows.js'
import { type Row, UsageError } from '../../../clients/uploader/read/row.js'
import { createReadCell } from '../../../clients/uploader/records/cells.js'
import { chooseFiles } from '../../../clients/uploader/records/files.js'
import { createToRecord, type Mapping } from '../../../clients/uploader/records/mapping.js'
import { readNamespace } from '../../../clients/uploader/records/uuid-from.js'
import { createProgress } from '../../../clients/uploader/report/progress.js'
import { createBudget } from '../../../clients/uploader/send/budget.js'
import { uploadFile } from '../../../clients/uploader/send/upload-file.js'

const folder = mkdtempSync(join(tmpdir(), 'weir dialect '))
afterAll(() => rmSync(folder, { recursive: true }))
const file = join(folder, 'offers.csv')

/** The bytes that Excel writes. */
const encoded = (text: string, encoding: string): Buffer => {
  if (encoding === 'utf-16le') return Buffer.from(`\ufeff${text}`, 'utf16le')
  return Buffer.from(text.replaceAll('€', '\x80').replaceAll('–', '\x96'), 'latin1')
}
const chosen = async (text: string | Buffer, given: Partial<Dialect> = {}, name = file) => {
  writeFileSync(name, text)
  const { files } = await chooseFiles([name], { dialect: given }, catalogue)
  const [found] = files
  if (!found) throw new Error('no file')
  return found
}
const takenFor = async (text: string | Buffer, given: Partial<Dialect> = {}) =>
  chosen(text, given).then(
    ({ dialect }) => notPlain(dialect),
    (error: Error) => {
      expect(error).toBeInstanceOf(UsageError)
      return error.message
    },
  )

describe('a file is taken for', () => {
  it('what it can only be', async () => {
    expect(await takenFor('offer_id,value,created\na,1.5,2024-05-31T12:00:00Z\n')).toEqual({})
    expect(await takenFor('offer_id;value;created\na;0,72;31.05.2024 12:00\nb;1.234,50;01.02.2024\n')).toEqual({
      delimiter: ';',
      decimal: ',',
      dates: 'DD.MM.YYYY',
    })
    expect(await takenFor('sep=|\r\noffer_id|value\r\na|1\r\n')).toEqual({ delimiter: '|' })
    expect(await takenFor('offer_id\tvalue\na\t1\n')).toEqual({ delimiter: '\t' })
    expect(await takenFor('offer_id;"a,b";value\na;b;1\n')).toEqual({ delimiter: ';' })
    expect(await takenFor('offer_id,value,odd;one\na,1,x\n')).toEqual({})
    expect(await takenFor('offer_id,value\na,"0,72"\n')).toEqual({ decimal: ',' })
    expect(await takenFor('offer_id,created\na,5/31/2024\nb,1/2/2024\n')).toEqual({ dates: 'MM/DD/YYYY' })
    expect(await takenFor('offer_id,created\na,2024/05/31\n')).toEqual({ dates: 'YYYY/MM/DD' })
    for (const encoding of ['utf-16le', 'utf-16be'] as const) {
      const bytes = encoded('offer_id,name\na,Ü\n', 'utf-16le')
      expect(await takenFor(encoding === 'utf-16be' ? bytes.swap16() : bytes)).toEqual({ encoding })
    }
    expect(await takenFor(encoded('offer_id,name\na,Ü\n', 'utf-16le').subarray(2))).toEqual({ encoding: 'utf-16le' })
    expect(await takenFor(gzipSync('offer_id;value\na;0,5\n'))).toEqual({ delimiter: ';', decimal: ',' })
  })

  it('nothing where it is not certain: it is refused with the option to give', async () => {
    expect(await takenFor('one;two,three\n1;2,3\n')).toMatch(/say --delimiter ',' or --delimiter ';'$/)
    expect(await takenFor('offer_id;value\na;1,234\n')).toMatch(/"1,234" means .*: say --decimal , or --decimal \.$/)
    expect(await takenFor('offer_id;value\na;0,72\nb;1.5\n')).toMatch(
      /"0,72" .* since there is "1.5" too: say --decimal/,
    )
    expect(await takenFor('offer_id,created\na,01/02/2024\n')).toMatch(/--date-format DD\/MM\/YYYY or .* MM\/DD\/YYYY$/)
    expect(await takenFor(encoded('offer_id,name\na,Müller\n', 'windows-1252'))).toMatch(/--encoding windows-1252/)
    expect(await takenFor('offer_id;value\na;1,234\n', { decimal: ',' })).toEqual({ delimiter: ';', decimal: ',' })
    expect(await takenFor(encoded('offer_id,name\na,5 €\n', 'windows-1252'), { encoding: 'windows-1252' })).toEqual({
      encoding: 'windows-1252',
    })
  })

  it('plain where single lines are odd: those are refused by themselves', async () => {
    expect(await takenFor('offer_id,value,created\na,"1,000",2024-05-31T12:00Z\nb,2,31.05.2024\n')).toEqual({})
    const broken = Buffer.concat([Buffer.from('offer_id,name\na,Ü\nb,'), Buffer.from([0xe9, 10])])
    expect(await takenFor(broken)).toEqual({})
  })

  it('what was said, if that can be', () => {
    expect([readEncoding('latin1'), readEncoding('UTF-16LE')]).toEqual(['windows-1252', 'utf-16le'])
    expect([readDelimiter('tab'), readDelimiter(';')]).toEqual(['\t', ';'])
    expect([readDateFormat('YYYY-MM-DD'), readDateFormat('DD/MM/YYYY')]).toEqual(['', 'DD/MM/YYYY'])
    for (const odd of [() => readEncoding('klingon'), () => readDelimiter('"'), () => readDateFormat('DD.MM.YY')])
      expect(odd).toThrow(UsageError)
  })
})

it('reads numbers and dates as they are written there, and leaves what is not certain as it stands', () => {
  expect(['0,72', '-12,5', '1.234,5', '1.234.567', '17'].map(withPoint)).toEqual([
    '0.72',
    '-12.5',
    '1234.5',
    '1234567',
    '17',
  ])
  const toIso = createToIso('DD.MM.YYYY')
  expect(['31.05.2024', '1.5.2024 9:05', '31.05.2024 12:00:30', '31.02.2024', '2024-05-31'].map(toIso)).toEqual([
    '2024-05-31',
    '2024-05-01T09:05',
    '2024-05-31T12:00:30',
    '31.02.2024',
    '2024-05-31',
  ])
  const offers = catalogue.all.get('offers') as RecordType
  const columns = ['offer_id', 'shop_id', 'name', 'type', 'value', 'region', 'created']
  const german = { encoding: 'utf-8', delimiter: ';', decimal: ',', dates: 'DD.MM.YYYY' } as const
  const read = (value: string) =>
    createToRecord(
      offers,
      columns,
      plain,
      german,
    )({ line: 1, end: 0, nextLine: 1, given: ['', '', '', '', value, '', ''] })
  expect(['0,72', '1.234', 'x'].map(read)).toEqual([{ value: 0.72 }, { value: '1.234' }, { value: 'x' }])
  const readCell = createReadCell(german)
  const cells = ['31.05.2024', '31.05.2024 12:00']
  expect(cells.map((cell) => [readCell(date(), cell), readCell(instant(), cell)])).toEqual([
    ['2024-05-31', '31.05.2024'],
    ['31.05.2024 12:00', '2024-05-31T12:00'],
  ])
})

const plain: Mapping = { map: new Map(), constants: new Map(), skipUnknown: false }

it.each(['windows-1252', 'utf-16le'])('reads %s the same from the end of any row on', async (encoding) => {
  const name = fc.stringMatching(/^[aé€–ß ]{0,20}$/)
  await fc.assert(
    fc.asyncProperty(fc.array(name, { minLength: 1, maxLength: 8 }), async (names) => {
      const text = `offer_id;name\r\n${names.map((each, i) => `${i};"${each}"\r\n`).join('')}`
      const { form, dialect } = await chosen(encoded(text, encoding), { encoding })
      const rowsFrom = async (offset: number, line: number) => {
        const rows: Row[] = []
        const from = offset === 0 ? undefined : { offset, line }
        for await (const block of (await openRows(file, form, from, dialect)).blocks) rows.push(...block)
        return rows
      }
      const whole = await rowsFrom(0, 1)
      expect(whole.map(({ given }) => given)).toEqual(names.map((each, i) => [String(i), each]))
      for (const [i, row] of whole.entries()) expect(await rowsFrom(row.end, row.nextLine)).toEqual(whole.slice(i + 1))
    }),
    { numRuns: 15 },
  )
})

it('goes on where it stopped in a file of another encoding, only if it is read as before, and takes its refused rows back', async () => {
  const shops = join(folder, 'shops.csv')
  const names = Array.from({ length: 6000 }, (_, i) => (i === 5500 ? 'bad é€' : `Café ${i} €`))
  const text = `shop_id;name;region\r\n${names.map((name, i) => `${i};${name};GB\r\n`).join('')}`
  const given = { encoding: 'windows-1252' }
  const sent: unknown[] = []
  let requests = 0
  const send = async (records: Record<string, unknown>[]) => {
    if (++requests === 2) throw new WeirError('network', 'no answer', 'try again')
    sent.push(...records.map(({ name }) => name))
    const refused = records.flatMap(({ name }, index) =>
      String(name).startsWith('bad')
        ? [{ index, problems: [{ code: 'bad_format', field: 'name', message: 'no' }] }]
        : [],
    )
    return { requestId: '', accepted: 0, refused, waiting: [] }
  }
  const run = async (bytes: Buffer | string, over: Partial<Dialect> = {}, name = shops) =>
    uploadFile(await chosen(bytes, { ...given, ...over }, name), {
      target: { url: 'http://weir', key: 'k', keyId: 'id' },
      weir: { of: () => ({ send }) } as unknown as Weir,
      wait: undefined,
      mapping: plain,
      restart: false,
      inFlight: createInFlight({ most: 1 }),
      budget: createBudget(undefined),
      progress: createProgress({ write: () => true }),
      signal: new AbortController().signal,
      again: () => 'weir',
    })
  const bytes = encoded(text, 'windows-1252')
  expect((await run(bytes)).report).toMatchObject({ records: 2500, state: 'stopped' })
  expect(String((await run(bytes, { encoding: 'iso-8859-2' })).failure)).toMatch(/read in another way/)
  expect((await run(bytes)).report).toMatchObject({ records: 6000, skipped: 2500, refused: 1, state: 'finished' })
  expect(sent).toEqual(names)

  // Sent with the same options, although it is in UTF-8 by now.
  const refused = `${shops}.refused.csv`
  expect(readFileSync(refused, 'utf8')).toMatch(/^\ufeffshop_id;name;region;weir_line;/)
  sent.length = 0
  await run(readFileSync(refused, 'utf8').replace('bad', 'good'), {}, refused)
  expect(sent).toEqual(['good é€'])
})

describe('--uuid-from', () => {
  const recordOf = (type: string, given: object, uuidFrom = readNamespace('acme')) =>
    createToRecord(catalogue.all.get(type) as RecordType, undefined, { ...plain, uuidFrom })({
      line: 1,
      end: 0,
      nextLine: 2,
      given,
    })

  it('gives a record the same UUID wherever it is named, and other records other ones', () => {
    const shop = recordOf('shops', { shop_id: 17 }).shop_id
    const offer = recordOf('offers', { offer_id: '17', shop_id: '17' })
    expect(offer.shop_id).toBe(shop)
    expect(offer.offer_id).not.toBe(shop)
    const seen = recordOf('interactions', { item_type: 'SHOP', item_id: '17', interaction_type: 'PAGE_VIEW' })
    expect(seen.item_id).toBe(shop)
    const customer = recordOf('customers', { customer_id: 'k-1', user_id: 'k-1' })
    const sale = recordOf('transactions', { transaction_id: 'k-1', student_id: 'k-1', offer_id: '17' })
    expect([sale.student_id, sale.offer_id]).toEqual([customer.customer_id, offer.offer_id])
    expect(customer.user_id).not.toBe(customer.customer_id)
    expect(recordOf('shops', { shop_id: 17 }, readNamespace('other')).shop_id).not.toBe(shop)
  })

  it('is version 5 of the standard, and leaves UUIDs as they are', () => {
    // As uuid.uuid5(uuid.NAMESPACE_DNS, 'python.org') in Python.
    expect(readNamespace('python.org')).toBe('886313e1-3b8a-5372-9b90-0c9aee199e5d')
    const own = '3F2B8C1E-9d4a-4e7f-8a1b-2c3d4e5f6a7b'
    expect(readNamespace(own)).toBe(own.toLowerCase())
    expect(recordOf('shops', { shop_id: own, name: '17' })).toEqual({ shop_id: own, name: '17' })
  })
})
