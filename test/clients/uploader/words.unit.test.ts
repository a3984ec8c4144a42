import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { catalogue } from '#schemas/catalogue.js'
import { createValidator } from '#schemas/derive/validator.js'
import { boolean, choice, country, date, instant, item, moment, number, reference, text, uuid } from '#schemas/field.js'
import { lifecycle, type RecordType, record } from '#schemas/record.js'
import { WeirError } from '../../../clients/typescript/src/index.js'
import { codeOf, lineOf } from '../../../clients/uploader/commands/exit-codes.js'
import { linesOf } from '../../../clients/uploader/commands/sample.js'
import { readCsv } from '../../../clients/uploader/read/csv.js'
import { UsageError } from '../../../clients/uploader/read/row.js'
import { explained } from '../../../clients/uploader/records/explain.js'
import { chooseFiles, typeByName } from '../../../clients/uploader/records/files.js'
import { createToRecord, type Mapping } from '../../../clients/uploader/records/mapping.js'
import { createProgress, fitInto } from '../../../clients/uploader/report/progress.js'
import { summaryOf, tableOf } from '../../../clients/uploader/report/summary.js'
import { createBudget, readMostErrors } from '../../../clients/uploader/send/budget.js'
import { addAnswer, createReport, type FileReport } from '../../../clients/uploader/send/tally.js'
import { findTarget } from '../../../clients/uploader/send/target.js'
import { uploaderOptions } from '../../../deploy/embedded/launcher/operator-call.js'
import { transaction } from '../../../schemas/records/transaction.js'
import { idOf } from '../../../schemas/samples/chance.js'
import { amountsFor, isBroken, recordAt, type Sample } from '../../../schemas/samples/records.js'

const folder = mkdtempSync(join(tmpdir(), 'weir words '))
afterAll(() => rmSync(folder, { recursive: true }))
const type = (name: string) => catalogue.all.get(name) as RecordType
const mapping = (over: Partial<Mapping> = {}): Mapping => ({
  map: new Map(),
  constants: new Map(),
  skipUnknown: false,
  ...over,
})

describe('the type of a file', () => {
  it.each([
    ['shops.csv', 'shops'],
    ['shops-2026-01.ndjson.gz', 'shops'],
    ['SHOP_TAGS.csv', 'shop-tags'],
    ['shop-categories_2.parquet', 'shop-categories'],
    ['shops.csv.refused.csv', 'shops'],
    ['tags2026.csv', 'tags'],
    ['shopsy.csv', undefined],
    ['my-shops.csv', undefined],
  ])('of %s is %s', (name, expected) => expect(typeByName(name, catalogue)?.type).toBe(expected))

  it('orders a folder by what refers to what, and passes over what is not for it', async () => {
    const own = join(folder, 'all')
    mkdirSync(own)
    const names = ['offers.csv', 'shops-2.csv', 'shops-1.csv', 'shops-1.csv.refused.csv', 'shops-1.csv.weir-journal']
    for (const name of [...names, 'notes.txt', 'interactions.ndjson']) writeFileSync(join(own, name), 'a,b\n')
    const { files, passedOver } = await chooseFiles([own], {}, catalogue)
    expect(files.map(({ file }) => file.slice(own.length + 1))).toEqual([
      'shops-1.csv',
      'shops-2.csv',
      'offers.csv',
      'interactions.ndjson',
    ])
    expect(passedOver).toEqual([join(own, 'notes.txt')])
    await expect(chooseFiles([join(own, 'notes.txt')], {}, catalogue)).rejects.toThrow(/--type/)
    await expect(chooseFiles([join(own, 'offers.csv')], { type: 'ofers' }, catalogue)).rejects.toThrow(/mean offers\?/)
    await expect(chooseFiles([join(own, 'nothing')], {}, catalogue)).rejects.toThrow(/there is no file or folder/)
  })
})

describe('columns', () => {
  const offers = type('offers')
  const columns = ['Offer Id', 'shop_id', 'name', 'type', 'value', 'is_enabled', 'weir_line', 'notes']
  const given = ['o', 's', 'Ten off', 'fixed', '12.50', 'false', '7', 'x']
  const whole = mapping({
    map: new Map([['Offer Id', 'offer_id']]),
    constants: new Map([['region', 'GB']]),
    skipUnknown: true,
  })

  it('become fields: mapped, constant, typed by the catalogue, empty ones absent, remarks and unknown ones left out', () => {
    const record = createToRecord(offers, columns, whole)({ line: 2, end: 0, nextLine: 3, given })
    expect(record).toEqual({
      offer_id: 'o',
      shop_id: 's',
      name: 'Ten off',
      value: 12.5,
      is_enabled: false,
      region: 'GB',
      type: 'fixed',
    })
  })

  it('keep what does not fit as text, for the service to refuse', () => {
    const cells = ['o', 's', 'n', '', '1,000', 'TRUE', '', '']
    const record = createToRecord(offers, columns, whole)({ line: 2, end: 0, nextLine: 3, given: cells })
    expect(record).toMatchObject({ value: '1,000', is_enabled: 'TRUE' })
    const digits = createToRecord(
      offers,
      columns,
      whole,
    )({
      line: 2,
      end: 0,
      nextLine: 3,
      given: ['o', 's', 'n', '', '12345678901234567890', '', '', ''],
    })
    expect(digits.value).toBe('12345678901234567890')
  })

  it('that cannot fit are told before anything is sent, with the option that helps', () => {
    const refusal = (names: string[], over: Partial<Mapping> = {}) => {
      try {
        createToRecord(type('shops'), names, mapping(over))
        return ''
      } catch (error) {
        expect(error).toBeInstanceOf(UsageError)
        return (error as Error).message
      }
    }
    expect(refusal(['Shop Id', 'name', 'region'])).toMatch(/"Shop Id" is no field of shops.*--map 'Shop Id=shop_id'/)
    expect(refusal(['shop_id', 'name'])).toMatch(/no column is region.*--const region=VALUE/)
    expect(refusal(['shop_id', 'name', 'region', 'name'])).toMatch(/two columns would be name/)
    expect(refusal(['shop_id', 'name', 'region'], { map: new Map([['Name', 'name']]) })).toMatch(
      /Name, which is not there/,
    )
    expect(refusal(['shop_id'], { constants: new Map([['regoin', 'GB']]) })).toMatch(/did you mean region\?/)
    // All at once, and each hint can be pasted.
    const many = Array.from({ length: 8 }, (_, i) => `Spalte ${i}`)
    const all = refusal([...many, '', "it's", 'name'])
    for (const name of many) expect(all).toContain(`--map '${name}=FIELD'`)
    expect(all).toContain("--map '=FIELD' --map 'it'\\''s=FIELD'")
    expect(all).toMatch(/no column is shop_id or region/)
  })

  it('are not replaced by a constant without a word: it is refused, with the way to leave them out', () => {
    const constants = new Map([['region', 'GB']])
    const names = ['shop_id', 'name', 'region']
    expect(() => createToRecord(type('shops'), names, mapping({ constants }))).toThrow(
      /"region" is a column of the file: leave --const region=GB away, or .*: --map region=$/,
    )
    const withWay = createToRecord(type('shops'), names, mapping({ constants, map: new Map([['region', '']]) }))
    expect(withWay({ line: 2, end: 0, nextLine: 3, given: ['s', 'n', 'IE'] })).toEqual({
      shop_id: 's',
      name: 'n',
      region: 'GB',
    })
    const ofJson = createToRecord(type('shops'), undefined, mapping({ constants }))
    expect(() => ofJson({ line: 7, end: 0, nextLine: 3, given: { region: 'IE' } })).toThrow(
      /line 7 has region itself: leave --const/,
    )
    expect(ofJson({ line: 7, end: 0, nextLine: 3, given: { region: null } })).toEqual({ region: 'GB' })
  })

  it('may be paths within JSON: what is not named below them is unknown, and dropped only where that was said', () => {
    const map = new Map([
      ['address.country', 'region'],
      ['id', 'shop_id'],
      ['address.city', ''],
    ])
    const given = { id: 's', address: { country: 'GB', city: 'Leeds', geo: { lat: 1 } }, other: { a: 1 } }
    const row = { line: 1, end: 0, nextLine: 2, given }
    expect(createToRecord(type('shops'), undefined, mapping({ map }))(row)).toEqual({
      shop_id: 's',
      region: 'GB',
      'address.geo.lat': 1,
      other: { a: 1 },
    })
    expect(createToRecord(type('shops'), undefined, mapping({ map, skipUnknown: true }))(row)).toEqual({
      shop_id: 's',
      region: 'GB',
    })
  })
})

describe('a refused record', () => {
  const said = (name: string, record: Record<string, unknown>) => {
    const found = createValidator(type(name))(record)
    return explained(type(name), record, 'problems' in found ? found.problems : []).map(({ message }) => message)
  }

  it('is told with its value, and what is wrong with that', () => {
    const amounts = [
      '0,72',
      '1.234,5',
      '1,000',
      '1.000.000',
      '1 000',
      '007',
      '12 €',
      'ten',
      '12345678901234567890',
      '1.5',
    ]
    expect(amounts.flatMap((value) => said('offers', { value })).filter((text) => text.startsWith('value'))).toEqual([
      'value must be a number: "0,72" has a decimal comma',
      'value must be a number: "1.234,5" has a decimal comma',
      'value must be a number: "1,000" has a comma, which may be that of thousands or of decimals',
      'value must be a number: "1.000.000" has dots between thousands',
      'value must be a number: "1 000" is not in one piece',
      'value must be a number: "007" begins with a zero',
      'value must be a number: "12 €" holds more than digits',
      'value must be a number: "ten" is none',
      'value must be a number: "12345678901234567890" has more digits than a number can keep',
      'value must be a number: "1.5" is text: in JSON leave the quotes away; with --decimal , write a comma',
    ])
    expect(said('shops', { shop_id: 1, name: 'x'.repeat(5000), region: 'Great Britain', is_public: 'TRUE' })).toEqual([
      'shop_id must be a string, not a number; it is 1',
      `name must be at most 4096 characters long; it is "${'x'.repeat(59)}…`,
      'region must be a 2-letter country code, like GB; it is "Great Britain"',
      'is_public must be true or false: "TRUE" is neither',
    ])
    expect(said('tags', {})).toEqual(['tag_id is required', 'name is required'])
  })

  it('is counted with all its problems, by code and field, and named by file and place', () => {
    const chunk = { from: 0, to: 1, line: 1, nextLine: 1, before: 0, rows: [] }
    const row = { line: 1, record: 3, end: 1, nextLine: 1, given: {} }
    const problems = [
      { code: 'bad_format' as const, field: 'region', message: 'region is odd' },
      { code: 'bad_format' as const, field: 'name', message: 'name is odd' },
      { code: 'unreadable' as const, field: null, message: 'torn' },
    ]
    const reports = ['a', 'b'].map((file) => createReport(file, 'shops'))
    addAnswer(reports[1] as FileReport, { chunk, sent: 1, refused: [{ row, problems }], waiting: 0 })
    const summary = summaryOf(reports, 1)
    expect(summary).toMatchObject({
      codes: { bad_format: 1 },
      problems: { 'bad_format region': 1, 'bad_format name': 1, unreadable: 1 },
    })
    expect(tableOf(reports, summary, 'answered')).toMatch(/bad_format name +1 +b, record 3, line 1: name is odd\n/)
    const strange = Array.from({ length: 300 }, (_, i) => ({
      code: 'unknown_field' as const,
      field: `f${i}`,
      message: '',
    }))
    addAnswer(reports[0] as FileReport, { chunk, sent: 1, refused: [{ row, problems: strange }], waiting: 0 })
    expect(reports[0]?.problems.unknown_field).toBe(100)
  })
})

describe('server and key', () => {
  const keyFile = join(folder, 'key')
  writeFileSync(keyFile, 'weir_abcdefghijkl_secret\n')

  it('are those that are named, or those of this folder', () => {
    const local = { WEIR_LOCAL_URL: 'http://127.0.0.1:1', WEIR_LOCAL_KEY_FILE: keyFile }
    expect(findTarget({}, local)).toEqual({
      url: 'http://127.0.0.1:1',
      key: 'weir_abcdefghijkl_secret',
      keyId: 'abcdefghijkl',
    })
    expect(findTarget({}, { ...local, WEIR_KEY: 'mine' })).toMatchObject({ url: 'http://127.0.0.1:1', key: 'mine' })
    const named = { WEIR_URL: 'https://weir.example.com/', WEIR_KEY: 'mine' }
    expect(findTarget({}, { ...local, ...named })).toMatchObject({ url: 'https://weir.example.com', key: 'mine' })
    expect(findTarget({ url: 'http://a', keyFile }, named)).toMatchObject({ url: 'http://a', keyId: 'abcdefghijkl' })
  })

  it('are asked for in one line where they are missing, and a demo key goes to nobody else', () => {
    expect(() => findTarget({}, {})).toThrow(/export WEIR_URL/)
    const elsewhere = { WEIR_LOCAL_URL: 'http://l', WEIR_LOCAL_KEY_FILE: keyFile, WEIR_URL: 'http://elsewhere' }
    expect(() => findTarget({}, elsewhere)).toThrow(/no key for http:\/\/elsewhere/)
    expect(() => findTarget({ keyFile: join(folder, 'none') }, { WEIR_URL: 'http://a' })).toThrow(/cannot be read/)
    expect(() => findTarget({}, { WEIR_URL: 'weir.example.com', WEIR_KEY: 'k' })).toThrow(/begins with https/)
  })
})

it('counts errors as a number or as a share, and a share only of enough', () => {
  const spent = (most: string, records: number, refused: number, all = false) => {
    const budget = createBudget(readMostErrors(most))
    budget.add(records, refused)
    return budget.isSpent(all)
  }
  expect([spent('10', 11, 10), spent('10', 11, 11)]).toEqual([false, true])
  expect([spent('5%', 100, 50), spent('5%', 100, 50, true), spent('5%', 1000, 51)]).toEqual([false, true, true])
  expect(() => readMostErrors('many')).toThrow(UsageError)
})

it('has an exit code and one line for each failure', () => {
  const failures = [
    new UsageError('a'),
    new WeirError('key', 'a', 'b'),
    new WeirError('network', 'a', 'b'),
    new WeirError('server', 'a', 'b'),
    new WeirError('conflict', 'a', 'b'),
    new WeirError('usage', 'a', 'b'),
    Object.assign(new Error('a'), { code: 'ENOSPC' }),
  ]
  expect(failures.map(codeOf)).toEqual([2, 5, 6, 6, 2, 2, 1])
  for (const failure of failures) expect(lineOf(failure)).not.toMatch(/\n/)
})

it('tells progress in one line that fits the terminal, and in whole lines elsewhere', () => {
  const pieces = [
    '12%',
    '1 000 000 records',
    '20 000 refused',
    '30 000/s',
    '1 min 12 s left',
    '1.2 GB of 5.0 GB',
    'a file',
  ]
  expect(fitInto(pieces, 39)).toBe('12%  1 000 000 records  20 000 refused')
  for (let width = 1; width < 120; width++) expect(fitInto(pieces, width).length).toBeLessThanOrEqual(width)

  const written: string[] = []
  const progress = createProgress({ write: (text) => written.push(text), isTTY: true, columns: 40 }, () => 1000)
  const end = progress.begin({
    file: 'x',
    size: 100,
    read: () => 50,
    report: createReport('x', 'shops'),
  })
  end()
  expect(written).toEqual(['\r\u001b[K50%  0 records  0/s  50 B of 100 B  x', '\n'])
})

it('never tells less than before', () => {
  vi.useFakeTimers()
  const written: string[] = []
  let time = 0
  const progress = createProgress({ write: (text) => written.push(text) }, () => time)
  const file = (name: string, size: number) => {
    const state = { read: 0, report: createReport(name, 'shops') }
    const end = progress.begin({ file: name, size, read: () => state.read, report: state.report })
    return { state, end }
  }
  const told = () => {
    time += 10_000
    vi.advanceTimersByTime(10_000)
    return written.pop()
  }
  const first = file('a', 100)
  first.state.read = 60
  first.state.report.records = 30
  expect(told()).toMatch(/^weir: 60%, 30 records, 3\/s/)
  // It is read from its start once more.
  first.state.read = 10
  expect(told()).toMatch(/^weir: 60%, 30 records/)
  first.state.read = 90
  const second = file('b', 1000)
  expect(told()).toMatch(/^weir: 60%, 30 records, .*90 B of 1\.1 kB, 2 files/)
  first.end()
  second.state.read = 900
  expect(told()).toMatch(/^weir: 90%, 30 records, .*990 B of 1\.1 kB, 2 files/)
  second.end()
  vi.useRealTimers()
})

describe('sample data', () => {
  const sample: Sample = { seed: 5, broken: 0.1, amounts: amountsFor(100) }

  it('is right but for the rows that are broken on purpose, and always the same', async () => {
    for (const each of catalogue.all.values()) {
      const text = [...linesOf(sample, each, 'csv')].join('')
      expect([...linesOf(sample, each, 'csv')].join('')).toBe(text)
      const bytes = {
        read: () => 0,
        from: async function* () {
          yield Buffer.from(text)
        },
      }
      const { columns = [], blocks } = await readCsv(bytes)
      const toRecord = createToRecord(each, columns, mapping())
      const validate = createValidator(each)
      const references = Object.values(each.fields).some(({ kind }) => kind === 'reference' || kind === 'item')
      let index = 0
      for await (const rows of blocks)
        for (const row of rows) {
          const isWrong = row.unreadable !== undefined || 'problems' in validate(toRecord(row))
          // A reference to nobody is right by the catalogue alone.
          if (!isBroken(sample, each.type, index)) expect(isWrong, `${each.type} ${index}`).toBe(false)
          else if (!references) expect(isWrong).toBe(true)
          index++
        }
      expect(index).toBe(sample.amounts[each.type])
    }
  })

  it('ends where it is told, and is the same but for its times', () => {
    const timesOf = (until?: number) => {
      const made = { ...sample, ...(until !== undefined && { until }) }
      return Array.from({ length: 50 }, (_, index) => recordAt(made, transaction, index))
    }
    const day = Date.UTC(2030, 5, 1)
    const later = timesOf(day)
    const times = later.map(({ created }) => Date.parse(String(created)))
    expect(Math.max(...times)).toBeLessThanOrEqual(day)
    expect(Math.min(...times)).toBeGreaterThan(Date.UTC(2028, 5, 1))
    const shift = day - Date.UTC(2026, 0, 1)
    const withoutTime = ({ created: _, ...others }: Record<string, unknown>) => others
    const usual = timesOf()
    expect(later.map(withoutTime)).toEqual(usual.map(withoutTime))
    expect(times).toEqual(usual.map(({ created }) => Date.parse(String(created)) + shift))
  })

  it('is as much as it always was', () => {
    expect(amountsFor(1000)).toEqual({
      shops: 20,
      categories: 10,
      tags: 8,
      keywords: 12,
      institutes: 4,
      courses: 9,
      customers: 1000,
      branches: 40,
      offers: 60,
      transactions: 3000,
      'shop-categories': 20,
      'shop-tags': 40,
      'shop-keywords': 40,
      'student-favourites': 1000,
      interactions: 2000,
    })
  })

  it('needs nothing but the declaration of a new type', () => {
    const voucher = record({
      type: 'gift-vouchers',
      id: 'voucher_id',
      about: 'Pretended: a field of each kind, with bounds.',
      fields: {
        voucher_id: uuid(),
        shop_id: reference('shops'),
        holder_id: uuid(),
        code: text('', { longest: 9 }),
        worth: number({ above: 0, max: 1 }),
        rebate: number({ max: -5 }),
        share: number({ min: 2, max: 2.004 }),
        region: country(),
        kind: choice(['PAPER', 'CARD']),
        item_type: choice(['TAG', 'OFFER']),
        item_id: item('item_type', { TAG: 'tags', OFFER: 'offers' }),
        is_used: boolean(),
        sold: moment(),
        valid_from: instant(),
        valid_until: date(),
        ...lifecycle,
      },
    })
    const amounts = amountsFor(500, 30, [...catalogue.all.values(), voucher])
    expect(amounts['gift-vouchers']).toBe(30)
    const validate = createValidator(voucher)
    const right = { seed: 3, broken: 0, amounts }
    const records = Array.from({ length: 30 }, (_, i) => recordAt(right, voucher, i))
    for (const each of records) expect(validate(each)).toHaveProperty('values')
    expect(new Set(records.map(({ voucher_id }) => voucher_id)).size).toBe(30)
    const shops = new Set(Array.from({ length: 30 }, (_, i) => idOf(3, 'shops', i)))
    for (const { shop_id } of records) expect(shops).toContain(shop_id)
    expect([...linesOf({ ...right, broken: 1 }, voucher, 'ndjson')].join('').split('\n')).toHaveLength(31)
  })
})

it('has all options of its commands in the list by which those that npm took are found', () => {
  const source = join(import.meta.dirname, '../../../clients/uploader/commands')
  const text = readdirSync(source)
    .map((name) => readFileSync(join(source, name), 'utf8'))
    .join('\n')
  const declared = [...text.matchAll(/\b(?:requiredO|o)ption\(\s*'--([a-z-]+)( <)?/g)]
  expect(uploaderOptions).toEqual(Object.fromEntries(declared.map(([, name, value]) => [name, value !== undefined])))
})
