import { createHash } from 'node:crypto'
import type { RecordType } from '../../../schemas/record.js'
import type { FileRows, Row } from '../read/row.js'
import type { ChunkSize, Header } from '../state/journal.js'

/** Rows that are sent as one request: those from byte `from` to byte `to`, with so many records of the file before them. */
export type Chunk = { from: number; to: number; line: number; nextLine: number; before: number; rows: Row[] }

// Large enough that a request's own cost does not count; eight of them, with their records, take a few dozen megabytes.
const usual: ChunkSize = { records: 2500, bytes: 1024 * 1024 }

/** Where `isBounded`, so that the upload stops at too many errors, the first chunks are small: few records are sent in vain. */
export const chunkSizeOf = (type: RecordType, isBounded: boolean): ChunkSize => ({
  ...usual,
  records: Math.min(usual.records, type.limit),
  ...(isBounded && { first: 100 }),
})

/** Cuts rows into chunks, by the rows alone: a file that is read again from the start of any chunk is cut at the same places. */
export async function* toChunks(
  { blocks }: FileRows,
  size: ChunkSize,
  { offset, records }: { offset: number; records: number },
): AsyncGenerator<Chunk> {
  let from = offset
  let before = records
  let rows: Row[] = []
  for await (const block of blocks) {
    for (const row of block) {
      rows.push(row)
      const most = size.first === undefined ? size.records : Math.min(size.records, Math.max(size.first, before))
      if (rows.length < most && row.end - from < size.bytes) continue
      yield chunkOf(from, before, rows, row)
      from = row.end
      before += rows.length
      rows = []
    }
  }
  const last = rows.at(-1)
  if (last) yield chunkOf(from, before, rows, last)
}

const chunkOf = (from: number, before: number, rows: Row[], last: Row): Chunk => ({
  from,
  before,
  to: last.end,
  line: rows[0]?.line ?? last.line,
  nextLine: last.nextLine,
  rows,
})

/** The same for the same rows of the same file at the same server: however often a chunk is sent, it is taken once. */
export const idempotencyKeyOf = (header: Header, { from, to }: Pick<Chunk, 'from' | 'to'>): string => {
  const { server, key_id, type, mapping, fingerprint, attempt, wait } = header
  // What was refused without a wait is another request with one. Without one, the keys are those of journals that know no wait.
  const how = [mapping, attempt, ...(wait === undefined ? [] : [wait])]
  const parts = [1, server, key_id, type, fingerprint.sha256, fingerprint.size, from, to, ...how]
  return `weir-upload-${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 40)}`
}
