import { createHash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises'
import type { Dialect } from '../../typescript/src/files/dialect.js'
import { createRefusedLines, refusedRecordOf } from '../../typescript/src/files/refused-csv.js'
import type { Format } from '../read/open-rows.js'
import { type Row, UsageError } from '../read/row.js'
import { writeAll } from './journal.js'

/** A row that was refused, and why. */
export type RefusedRow = { row: Row; problems: readonly { code: string; field: string | null; message: string }[] }

/** How much of the file of refused records is known to be on the disk, and the SHA-256 of that much. */
export type Vouched = { bytes: number; sha256: string }

/** Parquet has no writer here: its refused records become NDJSON. */
const refusedFormat = (format: Format): Format => (format === 'parquet' ? 'ndjson' : format)

export const refusedFileOf = (file: string, format: Format): string =>
  `${file === '-' ? 'stdin' : file}.refused.${refusedFormat(format)}`

export const nothingVouched: Vouched = { bytes: 0, sha256: createHash('sha256').digest('hex') }

/** Ready for more behind what the journal vouches for: rows behind that are of a chunk that is sent again. */
export const openRefusedFile = async (
  path: string,
  how: { format: Format; columns: readonly string[] | undefined; dialect: Dialect },
  vouched: Vouched,
) => {
  const format = refusedFormat(how.format)
  const write = format === 'csv' ? createWriteCsv(how.columns ?? [], how.dialect) : createWriteJson(format)
  const closing = closingOf(format)
  const found = await hashOfStart(path, vouched.bytes)
  if (vouched.bytes > 0 && found && found.digest !== vouched.sha256) {
    throw new UsageError(
      `${path} was changed while the upload is not finished: move it away (mv '${path}' '${path}.mine'), then run this again`,
    )
  }
  // Moved away, or never there: the rows that are refused from now on begin a new file.
  let bytes = found ? vouched.bytes : 0
  const hash = found?.hash ?? createHash('sha256')
  let handle: FileHandle | undefined
  if (found) {
    handle = await open(path, 'r+')
    await handle.truncate(bytes)
    if (bytes > 0) await writeAll(handle, closing, bytes)
  }

  return {
    /** Resolves when these rows are on the disk. */
    add: async (rows: readonly RefusedRow[]): Promise<Vouched> => {
      if (rows.length > 0) {
        handle ??= await open(path, 'w+')
        const text = Buffer.from(rows.map((row, i) => write(row, bytes === 0 && i === 0)).join(''))
        await writeAll(handle, Buffer.concat([text, closing]), bytes)
        await handle.datasync()
        bytes += text.length
        hash.update(text)
      }
      return { bytes, sha256: hash.copy().digest('hex') }
    },
    close: async (): Promise<void> => handle?.close(),
  }
}

/**
 * Makes room for the refused records of an upload that begins anew. A file that is as the last run left it goes; any other one may
 * have been mended by hand, and is kept under another name, which is returned.
 */
export const setAsideRefused = async (path: string, format: Format, left: Vouched): Promise<string | undefined> => {
  if (!existsSync(path)) return undefined
  const { size } = await stat(path)
  const isAsLeft = left.bytes > 0 && size === left.bytes + closingOf(refusedFormat(format)).length
  if (isAsLeft && (await hashOfStart(path, left.bytes))?.digest === left.sha256) {
    await rm(path)
    return undefined
  }
  let kept = `${path}.old`
  for (let number = 2; existsSync(kept); number++) kept = `${path}.old-${number}`
  await rename(path, kept)
  return kept
}

const closingOf = (format: Format): Buffer => Buffer.from(format === 'json' ? '\n]\n' : '')

const hashOfStart = async (path: string, bytes: number) => {
  const hash = createHash('sha256')
  try {
    if (bytes > 0) for await (const block of createReadStream(path, { end: bytes - 1 })) hash.update(block as Buffer)
    else await stat(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  return { hash, digest: hash.copy().digest('hex') }
}

type WriteRefused = (refused: RefusedRow, isFirst: boolean) => string

// With the same separator, Excel shows it as it showed the file. It is in UTF-8 whatever that was; a byte order mark says so.
const createWriteCsv = (columns: readonly string[], { encoding, delimiter }: Dialect): WriteRefused => {
  const { header, line } = createRefusedLines(columns, delimiter)
  const start = (encoding === 'utf-8' ? '' : '\ufeff') + header
  return ({ row, problems }, isFirst) => (isFirst ? start : '') + line(row.given as string[], row.line, problems)
}

const createWriteJson =
  (format: Format): WriteRefused =>
  ({ row, problems }, isFirst) => {
    const json = JSON.stringify(refusedRecordOf(row.given, row.line, problems, row.record))
    if (format === 'ndjson') return `${json}\n`
    return `${isFirst ? '[\n' : ',\n'}${json}`
  }
