import type { RecordType } from '../../../schemas/record.js'
import { type Dialect, plainDialect } from '../../typescript/src/files/dialect.js'
import {
  markedEncoding,
  type Recognised,
  recogniseDates,
  recogniseDecimal,
  recogniseDelimiter,
  recogniseEncoding,
} from '../../typescript/src/files/recognise.js'
import { isRemark } from '../../typescript/src/files/refused-csv.js'
import { readCsv } from '../read/csv.js'
import { type Format, inflated, mostUnpacked } from '../read/open-rows.js'
import { type Row, UsageError } from '../read/row.js'

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
  const isKnown = (name: string) => look.type.fields[name] !== undefined || look.map.has(name.trim()) || isRemark(name)
  const delimiter = given.delimiter ?? certain(file, 'delimiter', recogniseDelimiter(text, isKnown))
  const dialect = { ...plainDialect, ...given, encoding, delimiter }
  if (given.decimal !== undefined && given.dates !== undefined) return dialect
  const isWhole = look.isWhole && !(look.gzipped && look.start.length > mostUnpacked)
  const cells = await sampleOf(text, delimiter, { ...look, isWhole })
  return {
    ...dialect,
    decimal: given.decimal ?? certain(file, 'decimal', recogniseDecimal(cells('number'), delimiter)),
    dates: given.dates ?? certain(file, 'dates', recogniseDates(cells('date', 'instant', 'moment'))),
  }
}

const flags = { encoding: 'encoding', delimiter: 'delimiter', decimal: 'decimal', dates: 'date-format' } as const

/** A byte order mark is certain, whatever was said: a file of refused records has one where the file before it was not UTF-8. */
const encodingOf = (file: string, start: Buffer, given: string | undefined): string => {
  const found = recogniseEncoding(start)
  if (given !== undefined) return markedEncoding(start) ?? given
  if ('is' in found) return found.is
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

/** What a file shows, if it is certain; otherwise it is refused with the options to choose from. */
const certain = <Value extends string>(file: string, name: keyof Dialect, found: Recognised<Value>): Value => {
  if ('is' in found) return found.is
  const options = found.either.map((each) => `--${flags[name]} ${each === '\t' ? 'tab' : quotedIf(name, each)}`)
  throw new UsageError(`${file}: ${found.why}: say ${options.join(' or ')}`)
}

const quotedIf = (name: keyof Dialect, sign: string): string => (name === 'delimiter' ? `'${sign}'` : sign)

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
