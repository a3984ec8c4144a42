import { isUtf8 } from 'node:buffer'
import { type CsvError, type Info, type Options, Parser } from 'csv-parse'
import type { Bytes } from './bytes.js'
import { countLines, type FileRows, longestRecord, type Place, type Row, UsageError } from './row.js'

/**
 * The rows of a CSV file (RFC 4180, lines ended by LF or CRLF), the first of which names the columns. From a later place on,
 * the names are still read from the start.
 */
export const readCsv = async (bytes: Bytes, from?: Place): Promise<FileRows> => {
  const all = rowsOf(bytes.from(0), { offset: 0, line: 1 })
  const first = await all.next()
  const [header, ...others] = first.done ? [] : first.value
  // A file without anything in it has no records, and nobody knows its columns.
  if (!header) return { blocks: nothing() }
  if (header.unreadable) throw new UsageError(`the first line does not name the columns: ${header.unreadable}`)
  const columns = header.given as string[]
  const fitted = (blocks: AsyncIterable<Row[]>) => withCells(blocks, columns.length)
  if (!from || from.offset < header.end) return { columns, blocks: fitted(concat(others, all)) }
  await all.return()
  return { columns, blocks: fitted(rowsOf(bytes.from(from.offset), from, columns.length)) }
}

type Found = { cells: string[]; end: number }

// After a fault the parser begins anew in the next line, at first with small pieces: where every line has a fault, each of
// them would otherwise cost the reading of a whole block.
const smallPiece = 1024
const largePiece = 256 * 1024

/**
 * Each record with its place. A record that breaks the rules (a quote that is not closed, or that stands in the middle of a cell)
 * is one unreadable line: the next line begins anew, so that one stray quote does not swallow the rest of the file.
 */
async function* rowsOf(
  blocks: AsyncIterable<Buffer>,
  from: Place,
  columns?: number,
): AsyncGenerator<Row[], void, void> {
  let { offset, line } = from
  // What is not yet part of a row, from `offset` on; and how much of it the parser has got.
  let held: Buffer = Buffer.alloc(0)
  let fed = 0
  let piece = largePiece
  let width = columns
  let parser = createParser()

  const take = (length: number): Buffer => {
    const taken = held.subarray(0, length)
    held = held.subarray(length)
    fed -= length
    offset += length
    return taken
  }
  const skipBlankLines = (): void => {
    let blank = 0
    if (offset === 0 && held.subarray(0, 3).equals(byteOrderMark)) blank = 3
    while (held[blank] === 10 || (held[blank] === 13 && held[blank + 1] === 10)) blank += held[blank] === 10 ? 1 : 2
    if (blank > 0) line += countLines(take(blank))
  }
  const beginAnew = (): void => {
    if (parser.hasBegun()) {
      parser.destroy()
      parser = createParser()
    }
    fed = 0
    parser.startedAt = offset
  }
  /** The line that stands first is not a record; `undefined` while its end has not come yet. */
  const refuseLine = (why: string, isLast: boolean): Row | undefined => {
    skipBlankLines()
    const end = held.indexOf(10) + 1
    if (end === 0 && !isLast && held.length < longestRecord) return undefined
    const text = take(end === 0 ? held.length : end).toString()
    const here = line
    line += end === 0 ? 0 : 1
    return { line: here, end: offset, nextLine: line, given: [text.replace(/\r?\n$/, '')], unreadable: why }
  }

  /** The rows of all whole lines, where nothing in them is quoted: then a line is a row, and the parser need not look at it. */
  const plainRows = (): Row[] => {
    const whole = held.subarray(0, held.lastIndexOf(10) + 1)
    if (whole.length === 0 || whole.includes(34) || !isUtf8(whole)) return []
    const rows: Row[] = []
    let at = offset === 0 && whole.subarray(0, 3).equals(byteOrderMark) ? 3 : 0
    for (let end = whole.indexOf(10, at); end !== -1; end = whole.indexOf(10, at)) {
      if (end - at > longestRecord) break
      const text = whole.toString('utf8', at, whole[end - 1] === 13 && end > at ? end - 1 : end)
      at = end + 1
      const here = line++
      if (text === '') continue
      const cells = text.split(',')
      width ??= cells.length
      rows.push({ line: here, end: offset + at, nextLine: line, given: cells })
    }
    take(at)
    // It may have got the beginning of the first of these lines.
    beginAnew()
    return rows
  }

  const rowsIn = async (isLast: boolean): Promise<Row[]> => {
    const rows = plainRows()
    while (fed < held.length || (isLast && !parser.isEnded())) {
      const start = offset
      const base = fed
      fed = Math.min(held.length, fed + piece)
      let fault = await parser.feed(held.subarray(base, fed), isLast && fed === held.length)
      for (const { cells, end } of parser.takeFound()) {
        skipBlankLines()
        const length = parser.startedAt + end - offset
        const bytes = held.subarray(0, length)
        const lines = countLines(bytes)
        width ??= cells.length
        // A stray quote that a later one happens to close makes one long record of several lines, with too few or too many cells.
        if (cells.length !== width && lines > 1) {
          fault = 'a quote opens here that closes in a later line, and the cells do not fit the columns'
          break
        }
        const row: Row = { line, end: offset + length, nextLine: line + lines, given: cells }
        if (!isUtf8(bytes)) row.unreadable = 'this is not valid UTF-8: save the file as UTF-8'
        take(length)
        line += lines
        rows.push(row)
      }
      if (fault !== undefined) {
        const row = refuseLine(fault, isLast)
        if (!row) {
          // More of the line has to come; then it is read once more, with the same fault.
          beginAnew()
          piece = smallPiece
          return rows
        }
        rows.push(row)
        beginAnew()
        piece = smallPiece
      } else if (offset > start) piece = Math.min(largePiece, piece * 2)
    }
    return rows
  }

  parser.startedAt = offset
  try {
    for await (const block of blocks) {
      held = held.length === 0 ? block : Buffer.concat([held, block])
      const rows = await rowsIn(false)
      if (rows.length > 0) yield rows
    }
    const rows = await rowsIn(true)
    if (rows.length > 0) yield rows
  } finally {
    parser.destroy()
  }
}

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf])

const options: Options = {
  bom: true,
  relax_column_count: true,
  skip_empty_lines: true,
  record_delimiter: ['\r\n', '\n'],
  max_record_size: longestRecord,
}

/** csv-parse, which hands its records over in arrays instead of one by one. */
const createParser = () => {
  let found: Found[] = []
  let failed: CsvError | undefined
  let begun = false
  let ended = false
  const parser = new Parser({
    ...options,
    // Null: the record goes no further through the stream. The information is that of `info: true`, without a copy for each.
    on_record: (cells: unknown, { bytes }: Info) => {
      found.push({ cells: cells as string[], end: bytes })
      return null
    },
  } as Options)
  parser.on('error', (error) => {
    failed = error as CsvError
  })
  parser.resume()
  return {
    /** Where in the file the first byte was that it got. */
    startedAt: 0,
    hasBegun: () => begun,
    isEnded: () => ended,
    /** Why it cannot go on, if so. */
    feed: async (bytes: Buffer, isLast: boolean): Promise<string | undefined> => {
      begun = true
      if (bytes.length > 0)
        await new Promise<void>((resolve) => {
          parser.write(bytes, () => resolve())
        })
      if (isLast && !failed) {
        ended = true
        const closed = new Promise<void>((resolve) => {
          parser.once('close', () => resolve())
        })
        parser.end()
        await closed
      }
      return failed && (faults[failed.code] ?? failed.message)
    },
    takeFound: (): Found[] => {
      const taken = found
      found = []
      return taken
    },
    destroy: () => parser.destroy(),
  }
}

const faults: Partial<Record<CsvError['code'], string>> = {
  CSV_INVALID_CLOSING_QUOTE: 'a closing quote is followed by something else: within a quoted cell, write a quote as ""',
  INVALID_OPENING_QUOTE: 'a quote stands in the middle of a cell: put the cell in quotes, and write the quote as ""',
  CSV_QUOTE_NOT_CLOSED: 'a quote opens here and is never closed',
  CSV_MAX_RECORD_SIZE: `this record has more than ${longestRecord} characters: is there a quote that is never closed?`,
}

/** Rows with as many cells as there are columns; a row with more or fewer is unreadable, and its further cells are told. */
async function* withCells(blocks: AsyncIterable<Row[]>, width: number): AsyncGenerator<Row[]> {
  for await (const rows of blocks) {
    for (const row of rows) {
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
