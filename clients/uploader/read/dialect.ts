import { readDate } from '../../../schemas/read-instant.js'
import { UsageError } from './row.js'

/** How the text of a file is written. What is not CSV has an encoding only. */
export type Dialect = {
  /** As TextDecoder calls it. */
  encoding: string
  delimiter: string
  decimal: '.' | ','
  /** Such as DD.MM.YYYY; '' is ISO 8601. */
  dates: string
}

export const plainDialect: Dialect = { encoding: 'utf-8', delimiter: ',', decimal: '.', dates: '' }

/** What is not plain about a file: a part of what its upload is, since the same bytes are other records with it. */
export const notPlain = (dialect: Dialect): Partial<Dialect> =>
  Object.fromEntries(
    Object.entries(dialect).filter(([name, value]) => value !== plainDialect[name as keyof Dialect]),
  ) as Partial<Dialect>

/** What a file was taken for, in words; undefined where it is plain. */
export const wordsFor = ({ encoding, delimiter, decimal, dates }: Partial<Dialect>): string | undefined => {
  const words = [
    encoding === undefined ? '' : `text in ${encoding}`,
    delimiter === undefined ? '' : `cells separated by ${delimiter === '\t' ? 'tabs' : delimiter}`,
    decimal === undefined ? '' : `numbers with a decimal comma`,
    dates === undefined ? '' : `dates as ${dates}`,
  ].filter(Boolean)
  return words.length === 0 ? undefined : words.join(', ')
}

export const readEncoding = (given: string): string => {
  try {
    return new TextDecoder(given).encoding
  } catch {
    throw new UsageError(`there is no encoding ${given}: write one such as --encoding windows-1252 or utf-16le`)
  }
}

export const readDelimiter = (given: string): string => {
  const found = given === 'tab' || given === '\\t' ? '\t' : given
  if (/^[!-~\t]$/.test(found) && !/["'\w]/.test(found)) return found
  throw new UsageError(`"${given}" separates no cells: write one sign, such as --delimiter ';' or --delimiter tab`)
}

export const readDecimal = (given: string): Dialect['decimal'] => {
  if (given === '.' || given === ',') return given
  throw new UsageError(`"${given}" is no decimal mark: write --decimal , or --decimal .`)
}

export const readDateFormat = (given: string): string => {
  const parts = given.split(/[^A-Z]/)
  if (!/^[DMY]+([./-])[DMY]+\1[DMY]+$/.test(given) || [...parts].sort().join() !== 'DD,MM,YYYY')
    throw new UsageError(`"${given}" is no form of a date: write DD, MM and YYYY, such as --date-format DD.MM.YYYY`)
  return given === 'YYYY-MM-DD' ? '' : given
}

/** Makes ISO 8601 of a date, or of a date with a time behind it. What is not a day in this form stays as it is. */
export const createToIso = (dates: string): ((cell: string) => string) => {
  if (dates === '') return (cell) => cell
  const day = dates
    .replaceAll('.', '\\.')
    .replace('DD', '(?<day>\\d{1,2})')
    .replace('MM', '(?<month>\\d{1,2})')
    .replace('YYYY', '(?<year>\\d{4})')
  const form = new RegExp(
    `^${day}(?:[ T](?<time>\\d{1,2}:\\d{2}(?::\\d{2})?(?:\\.\\d+)?) ?(?<zone>Z|[+-]\\d{2}:?\\d{2})?)?$`,
  )
  return (cell) => {
    const { year, month = '', day = '', time, zone = '' } = form.exec(cell)?.groups ?? {}
    const iso = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
    if (typeof readDate(iso) !== 'number') return cell
    return time === undefined
      ? iso
      : `${iso}T${time.padStart(time.indexOf(':') === 1 ? time.length + 1 : 0, '0')}${zone}`
  }
}

/** The same number with a point. Dots are taken for those between thousands only where they can be nothing else. */
export const withPoint = (cell: string): string => {
  if (/^-?\d+,\d+$/.test(cell)) return cell.replace(',', '.')
  const isGrouped = /^-?[1-9]\d{0,2}(?:\.\d{3})+,\d+$/.test(cell) || /^-?[1-9]\d{0,2}(?:\.\d{3}){2,}$/.test(cell)
  if (isGrouped) return cell.replaceAll('.', '').replace(',', '.')
  // 1.234 is either of two numbers: it is no number then, and is refused.
  return /^-?\d+$/.test(cell) ? cell : ''
}
