import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import {
  asyncBufferFromFile,
  type FileMetaData,
  parquetMetadataAsync,
  parquetReadObjects,
  parquetSchema,
} from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import type { Bytes } from './bytes.js'
import { type FilePlace, type FileRows, type Row, UsageError } from './row.js'

// Groups often have a million rows. Pages before a slice are passed over without being unpacked, so slices cost little.
const sliceRows = 10_000

/**
 * The rows of a Parquet file, one row group after another, a slice at a time; the packed columns of one group are in memory. A
 * gzipped file is unpacked first, because Parquet is not read from its start to its end.
 */
export const readParquet = async (
  file: string,
  bytes: Bytes,
  gzipped: boolean,
  from?: FilePlace,
): Promise<FileRows> => {
  const folder = gzipped ? await mkdtemp(join(tmpdir(), 'weir-parquet-')) : undefined
  try {
    const path = folder ? join(folder, 'unpacked.parquet') : file
    if (folder) await pipeline(Readable.from(bytes.from(0)), createWriteStream(path))
    const buffer = await asyncBufferFromFile(path)
    const metadata = await parquetMetadataAsync(buffer).catch((error: Error) => {
      throw new UsageError(`${file} cannot be read as Parquet (${error.message}): is it whole?`)
    })
    const columns = parquetSchema(metadata).children.map(({ element }) => element.name)
    return { columns, blocks: rowsOf(file, buffer, metadata, from?.offset ?? 0, folder) }
  } catch (error) {
    if (folder) await rm(folder, { recursive: true, force: true })
    throw error
  }
}

async function* rowsOf(
  path: string,
  file: Awaited<ReturnType<typeof asyncBufferFromFile>>,
  metadata: FileMetaData,
  from: number,
  folder: string | undefined,
): AsyncGenerator<Row[]> {
  try {
    let rowStart = 0
    for (const group of metadata.row_groups) {
      const groupEnd = rowStart + Number(group.num_rows)
      for (let start = Math.max(rowStart, from); start < groupEnd; start += sliceRows) {
        const rowEnd = Math.min(groupEnd, start + sliceRows)
        const found = await parquetReadObjects({ file, metadata, rowStart: start, rowEnd, compressors }).catch(
          (error: Error) => {
            throw new UsageError(`${path} cannot be read from row ${start + 1} on (${error.message}): is it whole?`)
          },
        )
        yield found.map((row, i) => {
          const number = start + i + 1
          return { line: number, record: number, end: number, nextLine: number + 1, given: toJson(row) }
        })
      }
      rowStart = groupEnd
    }
  } finally {
    if (folder) await rm(folder, { recursive: true, force: true })
  }
}

const toJson = (row: Record<string, unknown>): Record<string, unknown> => {
  const json: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(row)) json[name] = plain(value)
  return json
}

/** Times become ISO 8601, whole numbers of 64 bits plain numbers where those are exact, and otherwise text. */
const plain = (value: unknown): unknown => {
  if (value instanceof Date) return value.toISOString()
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  if (value instanceof Uint8Array) return value.length === 16 ? uuidOf(value) : Buffer.from(value).toString('utf8')
  if (Array.isArray(value)) return value.map(plain)
  return value
}

const uuidOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
