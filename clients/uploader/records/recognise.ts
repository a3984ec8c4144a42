import type { RecordType } from '../../../schemas/record.js'
import { isRemark } from '../../typescript/src/files/refused-csv.js'
import { readCsv } from '../read/csv.js'
import { type Dialect, plainDialect } from '../read/dialect.js'
import { type Format, inflated, mostUnpacked } from '../read/open-rows.js'
import { type Row, UsageError } from '../read/row.js'

// What a file says itself is taken from it where it can mean one thing only; otherwise people are asked, since a guess that is
// wrong sends a million wrong numbers.

type Look = {
  file: string
  /** The first bytes of the file. */
  start: Buffer
  /** Whether those are all. */
  isWhole: boolean
  format: Format
  gzipped: boolean
  type: RecordType
  /** The names of columns that stand for fields. */
  map: ReadonlyMap<string, string>
}

/** How a file is written: as was said, or else as its first bytes show. */
export const recognise = async (look: Look, given: Partial<Dialect>): Promise<Dialect> => {
  const { file, format } = look
  const [only] = Object.keys(given).filter((name) => (format === 'parquet' ? true : name !== 'encoding'))
  if (format !== 'csv' && only !== undefined)
    throw new UsageError(`${file} is not CSV, and --${flags[only as keyof Dialect]} is for CSV: upload it without`)
  if (format === 'parquet') return plainDialect
  const start = look.gzipped ? inflated(look.start) : look.start
  const encoding = encodingOf(file, start, given.encoding)
  if (format !== 'csv') return { ...plainDialect, encoding }
  const text = decoded(file, start, encoding)
  const delimiter = given.delimiter ?? delimiterOf(text, look)
  const dialect = { ...plainDialect, ...given, encoding, delimiter }
  if (given.decimal !== undefined && given.dates !== undefined) return dialect
  const isWhole = look.isWhole && !(look.gzipped && look.start.length > mostUnpacked)
  const cells = await sampleOf(text, delimiter, { ...look, isWhole })
  return {
    ...dialect,
    decimal: given.decimal ?? decimalOf(file, cells('number'), delimiter),
    dates: given.dates ?? datesOf(file, cells('date', 'instant', 'moment')),
  }
}

const flags = { encoding: 'encoding', delimiter: 'delimiter', decimal: 'decimal', dates: 'date-format' } as const

/** A byte order mark is certain, whatever was said: a file of refused records has one where the file before it was not UTF-8. */
const encodingOf = (file: string, start: Buffer, given: string | undefined): string => {
  const [first, second, third] = start
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8'
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  if (given !== undefined) return given
  const zeros = [0, 0]
  for (let at = 0; at < start.length; at++) if (start[at] === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1
  const [even = 0, odd = 0] = zeros
  if (odd > start.length / 5 && even === 0) return 'utf-16le'
  if (even > start.length / 5 && odd === 0) return 'utf-16be'
  const beyondAscii = [...new TextDecoder().decode(start, { stream: true }).matchAll(/[^\0-\x7f]/gu)]
  // Where some of it is right UTF-8, what is not is a broken line, and is refused as one.
  if (beyondAscii.length === 0 || beyondAscii.some(([sign]) => sign !== '\ufffd')) return 'utf-8'
  throw new UsageError(
    `${file} is not UTF-8: say what it is, most likely --encoding windows-1252, as Excel writes it; with --encoding utf-8, the lines that are not are refused`,
  )
}

const decoded = (file: string, start: Buffer, encoding: string): string => {
  try {
    return new TextDecoder(encoding, { fatal: encoding !== 'utf-8' }).decode(start, { stream: true })
  } catch {
    throw new UsageError(`${file} is not written in ${encoding}: name another encoding with --encoding`)
  }
}

const delimiterOf = (text: string, { file, type, map }: Look): string => {
  const said = /^\ufeff?sep=(.)\r?\n/.exec(text)?.[1]
  if (said !== undefined) return said
  const [header = ''] = text
    .replace(/^\ufeff/, '')
    .replaceAll(/"(?:[^"]|"")*"/g, (cell) => cell.replaceAll(/[^\w]/g, ''))
    .split(/\r?\n/, 1)
  const found = [',', ';', '\t', '|'].filter((sign) => header.includes(sign))
  if (found.length < 2) return found[0] ?? ','
  const isKnown = (name: string) => type.fields[name] !== undefined || map.has(name.trim()) || isRemark(name)
  const [sign, ...others] = found.filter((each) => header.split(each).some(isKnown))
  if (sign !== undefined && others.length === 0) return sign
  const flagsToGive = found.map((each) => `--delimiter ${each === '\t' ? 'tab' : `'${each}'`}`)
  throw new UsageError(`what separates the cells of ${file} is not certain: say ${flagsToGive.join(' or ')}`)
}

/** The cells of the first rows that stand in columns of these kinds, empty ones left out. */
const sampleOf = async (text: string, delimiter: string, { isWhole, type, map }: Look) => {
  const whole = isWhole ? text : text.slice(0, text.lastIndexOf('\n') + 1)
  const bytes = {
    read: () => 0,
    from: async function* () {
      yield Buffer.from(whole)
    },
  }
  const { columns = [], blocks } = await readCsv(bytes, undefined, delimiter)
  const rows: Row[] = []
  for await (const block of blocks) rows.push(...block.filter(({ unreadable }) => unreadable === undefined))
  return (...kinds: string[]): string[] => {
    const places = columns.flatMap((name, at) =>
      kinds.includes(type.fields[map.get(name.trim()) ?? name]?.kind ?? '') ? at : [],
    )
    return rows.flatMap(({ given }) => places.map((at) => (given as string[])[at] ?? '')).filter(Boolean)
  }
}

const decimalOf = (file: string, cells: string[], delimiter: string): Dialect['decimal'] => {
  const withComma = cells.filter((cell) => /^-?\d+(?:\.\d{3})*,\d+$/.test(cell))
  const dotted = cells.find((cell) => /^-?\d+\.\d+$/.test(cell))
  const [first] = withComma
  if (first === undefined) return '.'
  const isCertain = withComma.some((cell) => !/^-?[1-9]\d{0,2}(?:,\d{3})+$/.test(cell))
  if (isCertain && dotted === undefined) return ','
  // Between commas, a number with one is a slip, and is refused by itself.
  if (delimiter === ',') return '.'
  throw new UsageError(
    `what the comma in ${JSON.stringify(first)} means in ${file} is not certain${dotted === undefined ? '' : `, since there is ${JSON.stringify(dotted)} too`}: say --decimal , or --decimal .`,
  )
}

const datesOf = (file: string, cells: string[]): string => {
  const days = cells.map((cell) => /^(\d{1,4})([./-])(\d{1,2})\2(\d{1,4})(?=[ T]|$)/.exec(cell))
  const [sign] = days.map((day) => day?.[2])
  // A form of its own is taken for one only where all have it; otherwise what is not ISO 8601 is refused by itself.
  if (sign === undefined || days.some((day) => day?.[2] !== sign)) return ''
  const [first, second, third] = [1, 3, 4].map((part) => days.map((day) => day?.[part] ?? '')) as [
    string[],
    string[],
    string[],
  ]
  if (first.every((part) => part.length === 4)) return sign === '-' ? '' : `YYYY${sign}MM${sign}DD`
  if (third.some((part) => part.length !== 4) || first.some((part) => part.length > 2)) return ''
  const dayFirst = `DD${sign}MM${sign}YYYY`
  const monthFirst = `MM${sign}DD${sign}YYYY`
  if (sign === '.') return dayFirst
  const [isDay, isDayToo] = [first, second].map((parts) => parts.some((part) => Number(part) > 12))
  if (isDay !== isDayToo) return isDay ? dayFirst : monthFirst
  if (isDay) return ''
  throw new UsageError(
    `whether ${JSON.stringify(cells[0])} in ${file} begins with the day or the month is not certain: say --date-format ${dayFirst} or --date-format ${monthFirst}`,
  )
}
