// CSV as it comes, in UTF-8: where its rows and cells begin and end, by RFC 4180; and a row as it is answered. A line ends in LF or CRLF.
// The edge and the uploader read with it. The console's reader stands by itself: it runs in browsers, which have no Buffer, on text in pieces.

/** One row: where its cells stand, without their quotes. It is used again for the next row, so that no objects are made. */
export type CsvRow = {
  /** The most cells that are kept, and the most bytes that a row may have. */
  most: number
  longest: number
  /** What separates cells: a byte. */
  delimiter: number
  /** How many cells there are; where there are more than `most`, only that many are kept. */
  count: number
  from: number[]
  to: number[]
  /** Whether a cell holds doubled quotes, each of which stands for one. */
  isEscaped: boolean[]
  /** Where the row ends, without its line end. */
  end: number
  /** How many line ends were passed, those within quotes too. */
  lineEnds: number
  /** Why the row cannot be read, where it cannot. */
  fault: string | undefined
  /** Whether the row is longer than any row that is taken: its rest, up to the next line end, is still to be passed over. */
  isCut: boolean
}

export const createRow = (most = mostCells, longest = longestLine, delimiter = comma): CsvRow => ({
  most,
  longest,
  delimiter,
  count: 0,
  from: [],
  to: [],
  isEscaped: [],
  end: 0,
  lineEnds: 0,
  fault: undefined,
  isCut: false,
})

/** More than any header may have. */
export const mostCells = 200

/** More than the longest record takes: an offer may name 190 000 characters of branches, each of up to twelve bytes. */
export const longestLine = 3 * 1024 * 1024

const quote = 0x22
const comma = 0x2c
const lineFeed = 0x0a
const carriageReturn = 0x0d

/** Reads the row that begins here; returns the place after its line end, or -1 where more bytes are needed. `isLast`: none will come. */
export const readRow = (csv: Buffer, start: number, isLast: boolean, row: CsvRow): number => {
  const { most, longest, delimiter } = row
  const end = Math.min(csv.length, start + longest + 1)
  const isWhole = isLast || csv.length - start > longest
  row.count = 0
  row.lineEnds = 0
  row.fault = undefined
  row.isCut = false
  let at = start
  for (;;) {
    const isQuoted = csv[at] === quote
    const opened = at
    let isEscaped = false
    if (isQuoted) {
      at++
      for (;;) {
        while (at < end && csv[at] !== quote) {
          if (csv[at] === lineFeed) row.lineEnds++
          at++
        }
        if (at >= end) return isWhole ? leaveOpened(csv, start, opened, isLast, row) : -1
        if (at + 1 >= csv.length && !isLast) return -1
        if (csv[at + 1] !== quote) break
        isEscaped = true
        at += 2
      }
      if (row.count < most) put(row, opened + 1, at, isEscaped)
      at++
    } else {
      while (at < end && csv[at] !== delimiter && csv[at] !== lineFeed && csv[at] !== quote) at++
      if (row.count < most) put(row, opened, at, false)
    }
    row.count++
    if (csv[at] === delimiter && at < end) {
      at++
      continue
    }
    if (csv[at] === lineFeed && at < end) return endRow(csv, at, isQuoted, row)
    if (at >= end && !isWhole) return -1
    if (at >= csv.length) return endRow(csv, at, isQuoted, row)
    if (csv[at] === carriageReturn && isQuoted) {
      if (at + 1 >= csv.length && !isLast) return -1
      if (at + 1 >= csv.length || csv[at + 1] === lineFeed) return endRow(csv, at + 1, isQuoted, row)
    }
    const fault = at >= end ? tooLong : isQuoted ? afterQuote : quoteWithin
    return passLine(csv, start, at, isLast, row, fault)
  }
}

const put = (row: CsvRow, from: number, to: number, isEscaped: boolean): void => {
  row.from[row.count] = from
  row.to[row.count] = to
  row.isEscaped[row.count] = isEscaped
}

/** The text of a cell. */
export const cellAt = (csv: Buffer, row: CsvRow, n: number): string => {
  const text = csv.toString('utf8', row.from[n], row.to[n])
  return row.isEscaped[n] ? text.replaceAll('""', '"') : text
}

/** A number as JSON has it: what a cell has to hold to be one. */
export const plainNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** What is wrong with a row, in the words of the edge. */
export const tooLong = `the line is longer than ${longestLine} bytes, and no record is`
export const neverClosed = 'a quote is opened and never closed'
export const afterQuote = 'something stands between a closing quote and the next comma'
export const quoteWithin =
  'a quote stands within a cell that does not begin with one; put the cell in quotes, and double those in it'

/** Ends a row at a line feed, or where the body ends. */
const endRow = (csv: Buffer, at: number, isQuoted: boolean, row: CsvRow): number => {
  row.end = at > 0 && csv[at - 1] === carriageReturn ? at - 1 : at
  if (!isQuoted && row.count <= row.most) row.to[row.count - 1] = Math.max(row.from[row.count - 1] as number, row.end)
  row.lineEnds++
  return at + 1 > csv.length ? at : at + 1
}

/** A quote that is never closed would make one row of all that follows: the row ends with the line of the quote. */
const leaveOpened = (csv: Buffer, start: number, opened: number, isLast: boolean, row: CsvRow): number => {
  row.lineEnds = 0
  for (let at = start; at < opened; at++) if (csv[at] === lineFeed) row.lineEnds++
  return passLine(csv, start, opened, isLast, row, neverClosed)
}

/** Gives the row up, and goes to the end of its line. */
const passLine = (csv: Buffer, start: number, from: number, isLast: boolean, row: CsvRow, fault: string): number => {
  const found = csv.indexOf(lineFeed, from)
  const isInReach = found >= 0 && found - start <= row.longest
  if (!isInReach && !isLast && csv.length - start <= row.longest) return -1
  row.fault = isInReach || (found < 0 && csv.length - start <= row.longest) ? fault : tooLong
  row.isCut = found < 0 && !isLast
  const end = found < 0 ? csv.length : found
  row.end = Math.min(end, start + row.longest)
  if (!row.isCut) row.lineEnds++
  return found < 0 ? csv.length : found + 1
}

/** A row as text. Each value is as it is in JSON, without the quotes of a text; nothing where there is none. */
export const csvLine = (values: readonly unknown[]): string => `${values.map(cellOf).join(',')}\n`

const cellOf = (value: unknown): string => {
  const text = value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value)
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
