import { isUtf8 } from 'node:buffer'
import { afterQuote, cellAt, createRow, neverClosed, quoteWithin, readRow, tooLong } from '../../../schemas/csv-rows.js'
import { isOfRefused, restored } from '../../typescript/src/files/refused-csv.js'
import type { Bytes } from './bytes.js'
import { countLines, type FilePlace, type FileRows, longestRecord, type Row, UsageError } from './row.js'

/** The rows of a CSV file (RFC 4180, LF or CRLF). Its first line, which names the columns, is read wherever `from` is. */
export const readCsv = async (bytes: Bytes, from?: FilePlace, delimiter = ','): Promise<FileRows> => {
  const all = rowsOf(bytes.from(0), { offset: 0, line: 1 }, delimiter)
  const first = await all.next()
  const [header, ...others] = first.done ? [] : first.value
  // A file without anything in it has no records, and no columns.
  if (!header) return { blocks: nothing() }
  if (header.unreadable) throw new UsageError(`the first line does not name the columns: ${header.unreadable}`)
  const isRefused = isOfRefused(header.given as string[])
  const columns = isRefused ? (header.given as string[]).map(restored) : (header.given as string[])
  const fitted = (blocks: AsyncIterable<Row[]>) => withCells(blocks, columns.length, isRefused)
  if (!from || from.offset < header.end) return { columns, blocks: fitted(concat(others, all)) }
  await all.return()
  return { columns, blocks: fitted(rowsOf(bytes.from(from.offset), from, delimiter, columns.length)) }
}

/** Each record with its place. One that breaks the rules is one unreadable line, so that a stray quote swallows no others. */
async function* rowsOf(
  blocks: AsyncIterable<Buffer>,
  from: FilePlace,
  delimiter: string,
  columns?: number,
): AsyncGenerator<Row[], void, void> {
  let { offset, line } = from
  // What is not yet part of a row, from `offset` on.
  let held: Buffer = Buffer.alloc(0)
  let width = columns
  const found = createRow(Number.POSITIVE_INFINITY, longestRecord, delimiter.charCodeAt(0))

  const take = (length: number): void => {
    held = held.subarray(length)
    offset += length
  }
  const rowOf = (length: number, lines: number, given: string[], unreadable?: string): Row => {
    const here = line
    line += lines
    take(length)
    return { line: here, end: offset, nextLine: line, given, ...(unreadable !== undefined && { unreadable }) }
  }
  /** The line that stands first is not a record. */
  const refuseLine = (why: string): Row => {
    const end = held.indexOf(lineFeed) + 1
    const text = held.toString('utf8', 0, end === 0 ? held.length : end)
    return rowOf(end === 0 ? held.length : end, end === 0 ? 0 : 1, [text.replace(/\r?\n$/, '')], why)
  }

  /** The rows of all whole lines, where nothing in them is quoted: then a line is a row, and is read as a whole. */
  const plainRows = (): Row[] => {
    const whole = held.subarray(0, held.lastIndexOf(lineFeed) + 1)
    if (whole.length === 0 || whole.includes(quote) || !isUtf8(whole)) return []
    const rows: Row[] = []
    let at = 0
    for (let end = whole.indexOf(lineFeed, at); end !== -1; end = whole.indexOf(lineFeed, at)) {
      if (end - at > longestRecord) break
      const text = whole.toString('utf8', at, whole[end - 1] === carriageReturn && end > at ? end - 1 : end)
      at = end + 1
      const here = line++
      if (text === '') continue
      const cells = text.split(delimiter)
      width ??= cells.length
      rows.push({ line: here, end: offset + at, nextLine: line, given: cells })
    }
    take(at)
    return rows
  }

  const readOne = (length: number): Row | undefined => {
    const { fault } = found
    if (fault !== undefined) {
      const isBeyond = fault === neverClosed && held.length > longestRecord
      return refuseLine((isBeyond ? faults.get(tooLong) : faults.get(fault)) ?? fault)
    }
    const bytes = held.subarray(0, length)
    const lines = countLines(bytes)
    const cells = Array.from({ length: found.count }, (_, n) => cellAt(held, found, n))
    if (found.count === 1 && found.from[0] === found.end) {
      line += lines
      take(length)
      return undefined
    }
    width ??= cells.length
    // A stray quote that a later one happens to close makes one long record of several lines, with too few or too many cells.
    if (cells.length !== width && lines > 1)
      return refuseLine('a quote opens here that closes in a later line, and the cells do not fit the columns')
    return rowOf(
      length,
      lines,
      cells,
      isUtf8(bytes)
        ? undefined
        : 'this is not valid UTF-8: save the file as UTF-8, or say what it is, such as --encoding windows-1252',
    )
  }

  /** Excel takes its separator from a first line such as sep=; */
  const passSeparatorLine = (): void => {
    const [said] = /^sep=.\r?\n/.exec(held.toString('latin1', 0, 8)) ?? []
    if (said === undefined) return
    take(said.length)
    line++
  }

  const rowsIn = (isLast: boolean): Row[] => {
    if (offset === 0 && held.subarray(0, byteOrderMark.length).equals(byteOrderMark)) take(byteOrderMark.length)
    if (line === 1 && offset <= byteOrderMark.length) passSeparatorLine()
    const rows = plainRows()
    while (held.length > 0) {
      const next = readRow(held, 0, isLast, found)
      if (next < 0) break
      const row = readOne(next)
      if (row) rows.push(row)
    }
    return rows
  }

  for await (const block of blocks) {
    held = held.length === 0 ? block : Buffer.concat([held, block])
    const rows = rowsIn(false)
    if (rows.length > 0) yield rows
  }
  const rows = rowsIn(true)
  if (rows.length > 0) yield rows
}

const lineFeed = 10
const carriageReturn = 13
const quote = 34
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf])

/** What is wrong with a row, in the words for people with a file before them. */
const faults = new Map([
  [afterQuote, 'a closing quote is followed by something else: within a quoted cell, write a quote as ""'],
  [quoteWithin, 'a quote stands in the middle of a cell: put the cell in quotes, and write the quote as ""'],
  [neverClosed, 'a quote opens here and is never closed'],
  [tooLong, `this record has more than ${longestRecord} characters: is there a quote that is never closed?`],
])

/** Rows with as many cells as there are columns; a row with more or fewer is unreadable, and its further cells are named. */
async function* withCells(blocks: AsyncIterable<Row[]>, width: number, isRefused: boolean): AsyncGenerator<Row[]> {
  for await (const rows of blocks) {
    for (const row of rows) {
      if (isRefused) row.given = (row.given as string[]).map(restored)
      const cells = row.given as string[]
      if (row.unreadable || cells.length === width) continue
      const further = cells.slice(width)
      row.unreadable =
        further.length > 0
          ? `this row has ${cells.length} cells and there are ${width} columns; the further cells are: ${JSON.stringify(further).slice(1, -1)}`
          : `this row has ${cells.length} cells and there are ${width} columns`
    }
    yield rows
  }
}

async function* concat(first: Row[], others: AsyncIterable<Row[]>): AsyncGenerator<Row[]> {
  if (first.length > 0) yield first
  yield* others
}

async function* nothing(): AsyncGenerator<Row[]> {}
