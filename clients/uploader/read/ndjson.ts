import { isUtf8 } from 'node:buffer'
import type { Bytes } from './bytes.js'
import { type FilePlace, type FileRows, longestRecord, type Row, readJson } from './row.js'

/** The rows of a file with a JSON record in each line. Blank lines count as lines and are passed over. */
export const readNdjson = (bytes: Bytes, from: FilePlace = { offset: 0, line: 1 }): FileRows => ({
  blocks: rowsOf(bytes.from(from.offset), from),
})

async function* rowsOf(blocks: AsyncIterable<Buffer>, { offset, line }: FilePlace): AsyncGenerator<Row[]> {
  let held: Buffer = Buffer.alloc(0)
  // Of a line that is longer than any record, only the beginning is kept.
  let passedOver = 0

  const rowOf = (bytes: Buffer, length: number): Row | undefined => {
    offset += length + passedOver
    const place = { line, end: offset, nextLine: ++line }
    const isTooLong = passedOver > 0 || bytes.length > longestRecord
    passedOver = 0
    if (isTooLong) {
      const given = bytes.subarray(0, 1024).toString()
      return { ...place, given, unreadable: `this line has more than ${longestRecord} bytes` }
    }
    return toRow(bytes, place)
  }
  const rowsIn = function* (isLast: boolean): Generator<Row> {
    let at = 0
    for (let end = held.indexOf(10); end !== -1; end = held.indexOf(10, at)) {
      const row = rowOf(held.subarray(at, end), end + 1 - at)
      at = end + 1
      if (row) yield row
    }
    held = held.subarray(at)
    if (isLast && (held.length > 0 || passedOver > 0)) {
      const row = rowOf(held, held.length)
      if (row) yield row
    } else if (held.length > longestRecord) {
      passedOver += held.length - 1024
      held = held.subarray(0, 1024)
    }
  }

  for await (const block of blocks) {
    held = held.length === 0 ? block : Buffer.concat([held, block])
    const rows = [...rowsIn(false)]
    if (rows.length > 0) yield rows
  }
  const rows = [...rowsIn(true)]
  if (rows.length > 0) yield rows
}

/** The record that these bytes hold; undefined where they hold nothing at all. */
export const toRow = (bytes: Buffer, place: Omit<Row, 'given' | 'unreadable'>): Row | undefined => {
  const text = bytes
    .toString()
    .replace(/^\ufeff/, '')
    .trim()
  if (text === '') return undefined
  if (!isUtf8(bytes))
    return {
      ...place,
      given: text,
      unreadable: 'this is not valid UTF-8: save the file as UTF-8, or say what it is, such as --encoding windows-1252',
    }
  const read = readJson(text)
  return typeof read === 'string' ? { ...place, given: text, unreadable: read } : { ...place, given: read.value }
}
