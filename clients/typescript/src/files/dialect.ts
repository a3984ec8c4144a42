// How files are written that spreadsheets and tills make, and how their cells are read. The command line and the console share it.

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

/** Writes a cell of a field of this kind plainly: a number with a point, a day or a time in ISO 8601. '' where it is no number. */
export const createToPlain = ({ decimal, dates }: Pick<Dialect, 'decimal' | 'dates'>) => {
  const toIso = createToIso(dates)
  return (kind: string, cell: string): string => {
    if (kind === 'number') return decimal === ',' ? withPoint(cell) : cell
    if (dates === '' || !isTime(kind)) return cell
    const iso = toIso(cell)
    // A day is no moment, and a moment no day: such a cell is refused as it stands in the file.
    return iso.includes('T') === (kind !== 'date') ? iso : cell
  }
}

/** Whether fields of this kind hold days or moments. */
export const isTime = (kind: string): boolean => kind === 'date' || kind === 'instant' || kind === 'moment'

/** Makes ISO 8601 of a date, or of a date with a time behind it. What is not a day in this form stays as it is. */
export const createToIso = (dates: string): ((cell: string) => string) => {
  if (dates === '') return (cell) => cell
  const day = dates
    .replace(/\./g, '\\.')
    .replace('DD', '(?<day>\\d{1,2})')
    .replace('MM', '(?<month>\\d{1,2})')
    .replace('YYYY', '(?<year>\\d{4})')
  const form = new RegExp(
    `^${day}(?:[ T](?<time>\\d{1,2}:\\d{2}(?::\\d{2})?(?:\\.\\d+)?) ?(?<zone>Z|[+-]\\d{2}:?\\d{2})?)?$`,
  )
  return (cell) => {
    const { year, month = '', day = '', time, zone = '' } = form.exec(cell)?.groups ?? {}
    const iso = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
    if (!isDay(iso)) return cell
    return time === undefined
      ? iso
      : `${iso}T${time.padStart(time.indexOf(':') === 1 ? time.length + 1 : 0, '0')}${zone}`
  }
}

// Date takes 30 February for a day of March.
const isDay = (iso: string): boolean => {
  const ms = Date.parse(`${iso}T00:00:00Z`)
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(iso)
}

/** The same number with a point. Dots are taken for those between thousands only where they can be nothing else. */
export const withPoint = (cell: string): string => {
  if (/^-?\d+,\d+$/.test(cell)) return cell.replace(',', '.')
  const isGrouped = /^-?[1-9]\d{0,2}(?:\.\d{3})+,\d+$/.test(cell) || /^-?[1-9]\d{0,2}(?:\.\d{3}){2,}$/.test(cell)
  if (isGrouped) return cell.replace(/\./g, '').replace(',', '.')
  // 1.234 is either of two numbers: it is no number then, and is refused.
  return /^-?\d+$/.test(cell) ? cell : ''
}
