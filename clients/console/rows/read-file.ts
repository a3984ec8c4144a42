import type { TypeReference } from '../../typescript/src/endpoints.js'
import { withoutRemarks } from '../../typescript/src/files/refused-csv.js'
import { parseExactly, toRecord } from './cells.js'
import { createCsvReader } from './csv.js'

/** A record of a file. `given` is what stood there: the cells of a CSV row, or the record itself. */
export type FileRow = { line: number; record: unknown; given: unknown; fault?: string }

type FileFormat = 'CSV' | 'NDJSON' | 'JSON'

/** What a file can be asked for. `blocks` reads it from the start, and `done` says how many bytes of it were read. */
export type OpenFile = {
  format: FileFormat
  /** The first line of a CSV file. */
  columns: string[] | undefined
  rows: (onRead?: (bytes: number) => void) => AsyncGenerator<FileRow, void, undefined>
}

export class FileProblem extends Error {}

/** Opens a file as records of a type. A large one is read piece by piece, never as a whole, unless it is one JSON array. */
export const openFile = async (file: File, type: TypeReference): Promise<OpenFile> => {
  if (file.size === 0) throw new FileProblem(`${file.name} is empty`)
  if (isWorkbook.test(file.name))
    throw new FileProblem(
      `${file.name} is a workbook, of which a browser sees no rows: open it, save it as "CSV UTF-8", and choose the file that this makes`,
    )
  const format = formatOf(file.name.replace(/\.gz$/i, ''), await startOf(file))
  if (format !== 'CSV')
    return {
      format,
      columns: undefined,
      rows: (onRead) => (format === 'NDJSON' ? ndjson(file, onRead) : json(file, onRead)),
    }
  let columns: string[] | undefined
  for await (const row of csvRows(file)) {
    if (row.fault) throw new FileProblem(`the first line does not name the columns: ${row.fault}`)
    columns = row.cells
    break
  }
  if (!columns) throw new FileProblem(`${file.name} has no line that names its columns`)
  return { format, columns, rows: (onRead) => csv(file, type, columns, onRead) }
}

const isWorkbook = /\.(xlsx|xlsm|xls|ods|numbers)$/i

const startOf = async (file: File): Promise<string> => {
  for await (const text of textOf(file)) return text.slice(0, 1024)
  return ''
}

/** By the name; where that says nothing, by how the text begins. */
export const formatOf = (name: string, start: string): FileFormat => {
  const ending = name.toLowerCase().match(/\.(csv|ndjson|jsonl|json)$/)?.[1]
  if (ending === 'csv') return 'CSV'
  if (ending === 'ndjson' || ending === 'jsonl') return 'NDJSON'
  const first = start.trimStart().charAt(0)
  if (first === '[') return 'JSON'
  if (first === '{') return isWholeLine(start) ? 'NDJSON' : 'JSON'
  return ending === 'json' ? 'JSON' : 'CSV'
}

const isWholeLine = (start: string): boolean => {
  try {
    const one = JSON.parse(start.trimStart().split('\n')[0] ?? '') as { records?: unknown }
    return !Array.isArray(one.records)
  } catch {
    return false
  }
}

async function* csv(
  file: File,
  type: TypeReference,
  columns: string[],
  onRead?: (bytes: number) => void,
): AsyncGenerator<FileRow, void, undefined> {
  let isFirst = true
  for await (const { line, cells, fault } of csvRows(file, onRead)) {
    const misfit = `this row has ${cells.length} cells, and there are ${columns.length} columns`
    const problem = fault ?? (cells.length === columns.length ? undefined : misfit)
    if (isFirst) isFirst = false
    else if (problem) yield { line, record: undefined, given: cells, fault: problem }
    else yield { line, record: toRecord(type, columns, cells), given: cells }
  }
}

async function* csvRows(file: File, onRead?: (bytes: number) => void) {
  const reader = createCsvReader()
  for await (const text of textOf(file, onRead)) yield* reader.take(text)
  yield* reader.end()
}

async function* ndjson(file: File, onRead?: (bytes: number) => void): AsyncGenerator<FileRow, void, undefined> {
  let held = ''
  let line = 0
  for await (const text of textOf(file, onRead)) {
    const lines = (held + text).split('\n')
    held = lines.pop() ?? ''
    for (const each of lines) {
      line += 1
      if (each.trim() !== '') yield oneOf(each, line)
    }
  }
  if (held.trim() !== '') yield oneOf(held, line + 1)
}

const oneOf = (text: string, line: number): FileRow => {
  try {
    const record = parseExactly(text)
    return { line, record: withoutRemarks(record), given: record }
  } catch {
    return { line, record: undefined, given: text, fault: 'this line is not JSON' }
  }
}

async function* json(file: File, onRead?: (bytes: number) => void): AsyncGenerator<FileRow, void, undefined> {
  let text = ''
  for await (const piece of textOf(file)) {
    text += piece
    if (text.length > largestJson)
      throw new FileProblem(
        'a JSON file is read as a whole, and this one is larger than 200 MB: save it as NDJSON, one record in a line',
      )
  }
  let parsed: unknown
  try {
    parsed = parseExactly(text)
  } catch (error) {
    throw new FileProblem(`${file.name} is not JSON: ${(error as Error).message}`)
  }
  const within = (parsed as { records?: unknown } | null)?.records
  const list = Array.isArray(parsed) ? parsed : Array.isArray(within) ? within : [parsed]
  for (const [index, record] of list.entries()) {
    onRead?.((file.size * (index + 1)) / list.length)
    yield { line: index + 1, record: withoutRemarks(record), given: record }
  }
}
const largestJson = 200e6

const pieceBytes = 16_384

/** The text of a file, packed by gzip or not; `onRead` hears how many bytes of the file itself were read. */
async function* textOf(file: File, onRead?: (bytes: number) => void): AsyncGenerator<string, void, undefined> {
  // Not decoded leniently: a replaced character would be accepted as if somebody had sent it.
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const decode = (bytes?: Uint8Array): string => {
    try {
      return decoder.decode(bytes, { stream: bytes !== undefined })
    } catch {
      throw new FileProblem(`${file.name} is not valid UTF-8: save it as UTF-8`)
    }
  }
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer())
  const isPacked = first === 0x1f && second === 0x8b
  let read = 0
  const counted = file.stream().pipeThrough(
    new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform: (bytes, out) => {
        if (isPacked) read += bytes.length
        out.enqueue(bytes)
      },
    }),
  )
  const reader = (isPacked ? counted.pipeThrough(new DecompressionStream('gzip')) : counted).getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        throw isPacked ? new FileProblem(`${file.name} cannot be unpacked: it is no whole gzip file`) : error
      })
      if (done) return yield decode()
      // A browser gives up to megabytes at once: in smaller pieces it is seen how far a small file is, too.
      for (let at = 0; at < value.length; at += pieceBytes) {
        const piece = value.subarray(at, at + pieceBytes)
        if (!isPacked) read += piece.length
        onRead?.(read)
        yield decode(piece)
      }
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}
