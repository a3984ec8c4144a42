import { gunzipSync } from 'node:zlib'
import { plainDialect } from '../../typescript/src/files/dialect.js'
import { firstBytes, isGzip, openBytes } from './bytes.js'
import { readCsv } from './csv.js'
import { readJsonArray } from './json-array.js'
import { readNdjson } from './ndjson.js'
import { readParquet } from './parquet.js'
import { type FilePlace, type FileRows, UsageError } from './row.js'

export const formats = ['csv', 'ndjson', 'json', 'parquet'] as const
export type Format = (typeof formats)[number]

/** How a file is read. */
export type FileForm = { format: Format; gzipped: boolean }

/** The rows of a file from a place on, and how many of its bytes were read so far. */
export const openRows = async (
  file: string,
  { format, gzipped }: FileForm,
  from?: FilePlace,
  { encoding, delimiter } = plainDialect,
): Promise<FileRows & { read: () => number }> => {
  const bytes = openBytes(file, { gzipped, encoding })
  const rows = format === 'parquet' ? readParquet(file, bytes, gzipped, from) : readers[format](bytes, from, delimiter)
  return { ...(await rows), read: bytes.read }
}

const readers = { csv: readCsv, ndjson: readNdjson, json: readJsonArray }

const endings: Readonly<Record<string, Format>> = {
  csv: 'csv',
  ndjson: 'ndjson',
  jsonl: 'ndjson',
  json: 'json',
  parquet: 'parquet',
  pq: 'parquet',
}

/** The format that a file's name says; undefined where it says none. */
export const formatByName = (file: string): Format | undefined =>
  endings[/\.([a-z]+)(?:\.gz)?$/i.exec(file)?.[1]?.toLowerCase() ?? '']

/** What a file is: by its name, or else by its first bytes. Whether it is gzipped, its bytes alone say. */
export const formOf = async (file: string, given?: Format): Promise<FileForm> =>
  formIn(file, await firstBytes(file), given)

export const formIn = (file: string, start: Buffer, given?: Format): FileForm => {
  const gzipped = isGzip(start)
  const format = given ?? formatByName(file) ?? sniff(gzipped ? inflated(start) : start)
  if (format) return { format, gzipped }
  throw new UsageError(`what is ${file}? say it: --format csv, ndjson, json or parquet`)
}

/** The format that the first bytes look like. */
const sniff = (start: Buffer): Format | undefined => {
  if (start.subarray(0, 4).toString('latin1') === 'PAR1') return 'parquet'
  const text = start
    .toString()
    .replace(/^\ufeff/, '')
    .trimStart()
  if (/^(\[|\{\s*"records"\s*:)/.test(text)) return 'json'
  if (text.startsWith('{')) return 'ndjson'
  return /^[^\n]+,/.test(text) ? 'csv' : undefined
}

/** More would only take longer: packed bytes may be a thousand times as many. */
export const mostUnpacked = 8192

/** As much of gzipped bytes as can be read when the rest is missing. */
export const inflated = (start: Buffer): Buffer => {
  try {
    return gunzipSync(start.subarray(0, mostUnpacked), { finishFlush: 2 })
  } catch {
    return Buffer.alloc(0)
  }
}
