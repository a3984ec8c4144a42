import type { TypeReference } from '../../typescript/src/endpoints.js'
import { type Dialect, plainDialect } from '../../typescript/src/files/dialect.js'
import { markedEncoding, type Recognised, recogniseEncoding } from '../../typescript/src/files/recognise.js'
import { withoutRemarks } from '../../typescript/src/files/refused-csv.js'
import { parseExactly } from './cells.js'
import { createCsvReader } from './csv.js'
import { createToRecord, type FileLook, type FileReading, lookAtCsv, lookOf } from './reading.js'

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
export const openFile = async (file: File, type: TypeReference, reading?: FileReading): Promise<OpenFile> => {
  refuseUnreadable(file)
  const { encoding, delimiter } = reading?.dialect ?? plainDialect
  const format = formatOf(file.name, decodedStart(await startOf(file), encoding))
  const text: TextOf = (onRead) => textOf(file, encoding, onRead)
  if (format !== 'CSV')
    return {
      format,
      columns: undefined,
      rows: (onRead) => (format === 'NDJSON' ? ndjson(text, onRead) : json(file, text, onRead)),
    }
  let columns: string[] | undefined
  for await (const row of csvRows(text, delimiter)) {
    if (row.fault) throw new FileProblem(`the first line does not name the columns: ${row.fault}`)
    columns = row.cells
    break
  }
  if (!columns) throw new FileProblem(`${file.name} has no line that names its columns`)
  const toRecord = createToRecord(type, columns, reading)
  const width = columns.length
  return { format, columns, rows: (onRead) => csv(csvRows(text, delimiter, onRead), width, toRecord) }
}

/** What a file shows of how it is written, as far as nobody has said it. */
export const lookAt = async (
  file: File,
  type: TypeReference,
  said: { dialect: Partial<Dialect>; fields?: readonly string[] | undefined },
): Promise<FileLook & Pick<OpenFile, 'format'>> => {
  refuseUnreadable(file)
  const start = await startOf(file)
  const marked = markedEncoding(start.bytes)
  const given = marked ?? said.dialect.encoding
  const encoding: Recognised<string> = given === undefined ? recogniseEncoding(start.bytes) : { is: given }
  // Columns stand at the same places in either of two encodings between which people have to choose.
  const text = decodedStart(start, 'is' in encoding ? encoding.is : (encoding.either[0] ?? plainDialect.encoding))
  const format = formatOf(file.name, text)
  if (format !== 'CSV') return { format, ...lookOf(encoding) }
  return { format, ...lookAtCsv({ text, isWhole: start.isWhole, encoding }, type, said) }
}

const refuseUnreadable = (file: File): void => {
  if (file.size === 0) throw new FileProblem(`${file.name} is empty`)
  if (isWorkbook.test(file.name))
    throw new FileProblem(
      `${file.name} is a workbook, of which a browser sees no rows: open it, save it as "CSV UTF-8", and choose the file that this makes`,
    )
}

const isWorkbook = /\.(xlsx|xlsm|xls|ods|numbers)$/i

// As many bytes as show what a file is.
const mostLookedAt = 64 * 1024

type FileStart = { bytes: Uint8Array; isWhole: boolean }

/** The first bytes of a file, unpacked. */
const startOf = async (file: File): Promise<FileStart> => {
  const bytes = new Uint8Array(mostLookedAt)
  let filled = 0
  for await (const piece of bytesOf(file)) {
    const fitting = piece.subarray(0, mostLookedAt - filled)
    bytes.set(fitting, filled)
    filled += fitting.length
    if (filled === mostLookedAt) return { bytes, isWhole: false }
  }
  return { bytes: bytes.subarray(0, filled), isWhole: true }
}

const decodedStart = ({ bytes }: FileStart, encoding: string): string =>
  new TextDecoder(encoding).decode(bytes, { stream: true })

/** By the name; where that says nothing, by how the text begins. */
export const formatOf = (name: string, start: string): FileFormat => {
  const ending = name
    .toLowerCase()
    .replace(/\.gz$/, '')
    .match(/\.(csv|ndjson|jsonl|json)$/)?.[1]
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
  rows: ReturnType<typeof csvRows>,
  width: number,
  toRecord: ReturnType<typeof createToRecord>,
): AsyncGenerator<FileRow, void, undefined> {
  let isFirst = true
  for await (const { line, cells, fault } of rows) {
    const problem =
      fault ??
      (cells.length === width ? undefined : `this row has ${cells.length} cells, and there are ${width} columns`)
    if (isFirst) isFirst = false
    else if (problem) yield { line, record: undefined, given: cells, fault: problem }
    else yield { line, record: toRecord(cells), given: cells }
  }
}

async function* csvRows(text: TextOf, delimiter: string, onRead?: (bytes: number) => void) {
  const reader = createCsvReader(delimiter)
  for await (const piece of text(onRead)) yield* reader.take(piece)
  yield* reader.end()
}

async function* ndjson(textOfIt: TextOf, onRead?: (bytes: number) => void): AsyncGenerator<FileRow, void, undefined> {
  let held = ''
  let line = 0
  for await (const text of textOfIt(onRead)) {
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

async function* json(
  file: File,
  textOfIt: TextOf,
  onRead?: (bytes: number) => void,
): AsyncGenerator<FileRow, void, undefined> {
  let text = ''
  for await (const piece of textOfIt()) {
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

type TextOf = (onRead?: (bytes: number) => void) => AsyncGenerator<string, void, undefined>

async function* textOf(file: File, encoding: string, onRead?: (bytes: number) => void): ReturnType<TextOf> {
  // Not decoded leniently: a replaced character would be accepted as if somebody had sent it.
  const decoder = new TextDecoder(encoding, { fatal: true })
  const decode = (bytes?: Uint8Array): string => {
    try {
      return decoder.decode(bytes, { stream: bytes !== undefined })
    } catch {
      throw new FileProblem(`${file.name} is not written in ${encoding}: choose another encoding, or save it as UTF-8`)
    }
  }
  for await (const bytes of bytesOf(file, onRead)) yield decode(bytes)
  yield decode()
}

/** The bytes of a file, packed by gzip or not; `onRead` hears how many bytes of the file itself were read. */
async function* bytesOf(file: File, onRead?: (bytes: number) => void): AsyncGenerator<Uint8Array, void, undefined> {
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
      if (done) return
      // A browser gives up to megabytes at once: in smaller pieces it is seen how far a small file is, too.
      for (let at = 0; at < value.length; at += pieceBytes) {
        const piece = value.subarray(at, at + pieceBytes)
        if (!isPacked) read += piece.length
        onRead?.(read)
        yield piece
      }
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}
