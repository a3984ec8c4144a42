import type { Bytes } from './bytes.js'
import { toRow } from './ndjson.js'
import { countLines, type FilePlace, type FileRows, longestRecord, type Row, UsageError } from './row.js'

/** The rows of a file that is one JSON array of records, or the body of a request: {"records": […]}. */
export const readJsonArray = (bytes: Bytes, from?: FilePlace): FileRows => ({
  blocks: rowsOf(bytes.from(from?.offset ?? 0), from ?? { offset: 0, line: 1 }, from !== undefined && from.offset > 0),
})

const opening = /^\ufeff?\s*(?:\{\s*"records"\s*:\s*)?\[/
const [quote, backslash, comma] = [0x22, 0x5c, 0x2c]

/** Cuts at the commas between elements, which JSON.parse reads; one that is not JSON is one unreadable row. */
async function* rowsOf(
  blocks: AsyncIterable<Buffer>,
  { offset, line, records = 0 }: FilePlace,
  isInside: boolean,
): AsyncGenerator<Row[]> {
  let held: Buffer = Buffer.alloc(0)
  // How far `held` was looked at, and what was found so far of the element that begins with it.
  let at = 0
  let depth = 0
  let inText = false
  let isOver = false
  let hasCome = false

  const take = (length: number): Buffer => {
    const taken = held.subarray(0, length)
    held = held.subarray(length)
    at = 0
    offset += length
    return taken
  }
  const open = (isLast: boolean): void => {
    const start = held.subarray(0, 4096).toString()
    const found = opening.exec(start)
    if (found) {
      line += countLines(take(Buffer.byteLength(found[0])))
      isInside = true
    } else if (isLast && start.replace(/^\ufeff/, '').trim() === '') isOver = true
    else if (isLast || held.length >= 4096)
      throw new UsageError('this is not a JSON array of records: it has to begin with [ or {"records": [')
  }
  /** The element before the comma at `at`, which is taken off with it; or before the last bracket, which stays. */
  const element = (isEnd: boolean): Row | undefined => {
    const length = at
    const bytes = take(isEnd ? at : at + 1)
    const content = bytes.subarray(0, length)
    const blank = content.length - content.toString().trimStart().length
    const lines = countLines(bytes)
    const begins = line + countLines(content.subarray(0, blank))
    line += lines
    const place = { line: begins, end: offset, nextLine: line }
    const row = toRow(content, place)
    if (row || isEnd) return row
    return { ...place, given: '', unreadable: 'there is nothing between two commas' }
  }
  const rowsIn = (isLast: boolean): Row[] => {
    const rows: Row[] = []
    if (!isInside) open(isLast)
    while (isInside && !isOver && at < held.length) {
      const byte = held[at]
      if (inText) {
        if (byte === backslash) at++
        else if (byte === quote) inText = false
      } else if (byte === quote) inText = true
      else if (byte === 0x7b || byte === 0x5b) depth++
      else if (depth === 0 && (byte === comma || byte === 0x5d)) {
        isOver = byte === 0x5d
        const row = element(isOver)
        if (row) rows.push({ ...row, record: ++records })
        continue
      } else if (byte === 0x7d || byte === 0x5d) depth = Math.max(0, depth - 1)
      at++
    }
    // Where reading went on behind all there is, nothing is missing.
    const isMissing = isInside && (hasCome || offset === 0)
    if (!isOver && (isLast || held.length > longestRecord)) {
      const text = held.toString().trim()
      const begins = line + countLines(held.subarray(0, held.length - held.toString().trimStart().length))
      offset += held.length
      if (text !== '' || isMissing) {
        const why = isLast ? 'the file ends before the array does' : `this record has more than ${longestRecord} bytes`
        const beyond = `${why}: nothing from here on was read`
        const place = { line: begins, record: ++records, end: offset, nextLine: begins }
        rows.push({ ...place, given: text.slice(0, 1024), unreadable: beyond })
      }
      isOver = true
    }
    return rows
  }

  for await (const block of blocks) {
    hasCome = true
    held = held.length === 0 ? block : Buffer.concat([held, block])
    const rows = rowsIn(false)
    if (rows.length > 0) yield rows
    // What stands behind the array, such as the end of {"records": […]}, holds no records.
    if (isOver) return
  }
  const rows = rowsIn(true)
  if (rows.length > 0) yield rows
}
