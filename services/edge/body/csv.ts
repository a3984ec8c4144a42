import { isUtf8 } from 'node:buffer'
import { type RequestError, requestError } from '#http/request-error.js'
import { type AvroBytes, createAvroBytesFor, createCsvReader } from '#schemas/byte-path/byte-path.js'
import { cellAt, createRow, mostCells, readRow, tooLong } from '#schemas/csv-rows.js'
import { nearest } from '#schemas/derive/nearest-name.js'
import { shorten } from '#schemas/derive/validator.js'
import type { RecordType } from '#schemas/record.js'
import { type Entry, type ToEntry, unreadable } from '../batches/entries.js'
import {
  afterMark,
  createIsClean,
  notUtf8,
  type OpenedLines,
  type OpenLines,
  type ReadNext,
  runTogether,
} from './lines.js'

/** CSV by RFC 4180, under a header of field names. Rows go straight to Avro, or else through the validator, like JSON. */
export const createOpenCsv =
  (type: RecordType, toEntry: ToEntry): OpenLines =>
  (bytes, isLast) => {
    const row = createRow()
    let at = afterMark(bytes)
    let line = 0
    do {
      const next = at < bytes.length ? readRow(bytes, at, isLast, row) : -1
      if (next < 0 && bytes.length > longestHeader) return refuse('the header of the CSV has no end', type)
      if (next < 0) return isLast ? refuse('the CSV has no header: its first line names the fields', type) : undefined
      at = next
      line += row.lineEnds
    } while (isBlank(row))
    const fault = row.fault ?? (isUtf8(bytes.subarray(0, at)) ? undefined : notUtf8)
    if (fault !== undefined) return refuse(`the header of the CSV cannot be read: ${fault}`, type)
    if (row.count > mostCells) return refuse(`the header of the CSV has more than ${mostCells} cells`, type)
    const header = Array.from({ length: row.count }, (_, n) => cellAt(bytes, row, n))
    // A body of one line is a header without records, unless its lines were run together.
    const error =
      isLast && !bytes.includes(lineFeed) && isMixed(header, type)
        ? `the CSV is a single line that is no header; ${runTogether}`
        : faultOf(header, type)
    if (error !== undefined) return refuse(error, type)
    const reader = createReader(type, toEntry, header, { headerEnd: line, out: createAvroBytesFor(bytes) })
    return { at, meaning: `csv ${JSON.stringify(header)}`, ...reader }
  }

const createReader = (
  type: RecordType,
  toEntry: ToEntry,
  header: readonly string[],
  { headerEnd, out }: { headerEnd: number; out: AvroBytes },
): Pick<OpenedLines, 'readNext' | 'isWithinLine'> => {
  const { readStraight, toRecord, toJson } = createCsvReader(type, header)
  const isClean = createIsClean()
  const row = createRow()
  let line = headerEnd + 1
  let isPassingOver = false

  const toOne = (bytes: Buffer, at: number): Entry => {
    const refuseRow = (why: string) => unreadable(bytes.subarray(at, row.end), why)
    if (row.fault !== undefined) return refuseRow(row.fault)
    if (!isClean(bytes) && !isUtf8(bytes.subarray(at, row.end))) return refuseRow(notUtf8)
    if (row.count !== header.length)
      return refuseRow(`the line has ${cells(row.count)} where the header has ${header.length}`)
    // A NUL is for the validator to refuse.
    const isPlain = isClean(bytes) || !bytes.subarray(at, row.end).includes(0)
    return (
      (isPlain && readStraight(bytes, row, out)) || toEntry(toRecord(bytes, row), () => Buffer.from(toJson(bytes, row)))
    )
  }

  const readNext: ReadNext = (bytes, at, isLast, into) => {
    if (isPassingOver) {
      const found = bytes.indexOf(lineFeed, at)
      isPassingOver = found < 0
      if (found >= 0) line++
      const next = found < 0 ? bytes.length : found + 1
      into.passedOver += next - at
      return next
    }
    // Millions of empty lines fit into a small body of gzip: here they cost next to nothing.
    if (bytes[at] === lineFeed) {
      line++
      return at + 1
    }
    const next = readRow(bytes, at, isLast, row)
    if (next < 0) return -1
    if (!isBlank(row)) {
      into.entries.push(toOne(bytes, at))
      into.lines.push(line)
    }
    line += row.lineEnds
    isPassingOver = row.isCut
    if (row.fault === tooLong) into.passedOver += next - at
    return next
  }
  return { readNext, isWithinLine: () => isPassingOver }
}

const lineFeed = 0x0a
// Far longer than one that names every field.
const longestHeader = 256 * 1024

const isBlank = ({ count, from, to, end, fault }: ReturnType<typeof createRow>): boolean =>
  // A quoted cell ends before its row does.
  fault === undefined && count === 1 && from[0] === to[0] && to[0] === end

/** Whether some names are no fields of the type. */
const isMixed = (header: readonly string[], type: RecordType): boolean => !header.every((name) => name in type.fields)

const cells = (count: number): string => (count === 1 ? '1 cell' : `${count} cells`)

/** What is wrong with a header: a name that comes twice, or no name of a field at all. */
const faultOf = (header: readonly string[], type: RecordType): string | undefined => {
  const doubled = header.find((name, n) => name !== '' && header.indexOf(name) !== n)
  if (doubled !== undefined) return `the header of the CSV names ${JSON.stringify(shorten(doubled))} twice`
  const names = Object.keys(type.fields)
  if (header.some((name) => names.includes(name))) return undefined
  const [first = ''] = header
  const other = [';', '\t', '|'].find((separator) => first.split(separator).some((name) => names.includes(name)))
  if (other !== undefined)
    return `the CSV is separated by ${other === '\t' ? 'tabs' : JSON.stringify(other)}; separate its cells by commas`
  const meant = header.slice(0, mostHints).flatMap((name) => {
    const close = nearest(name, names)
    return close === undefined ? [] : [`${JSON.stringify(shorten(name))} may be ${close}`]
  })
  const hints = meant.length > 0 ? ` (${meant.join(', ')})` : ''
  return `the header of the CSV names no field of ${type.type}${hints}`
}

// To look for the nearest name takes long, and the first few show what is wrong.
const mostHints = 20

const refuse = (message: string, type: RecordType): { error: RequestError } => ({
  error: requestError(400, `${message}; the fields are ${Object.keys(type.fields).join(', ')}`),
})
