import { randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { refusal } from './errors.js'

/** How far into a body a statement may reach before its data begins. */
const HEAD_BYTES = 256 * 1024
/** A statement without data must fit in memory. ClickHouse itself parses at most 256 KiB by default, not counting inline data. */
const STATEMENT_BYTES = 64 * 1024 * 1024

/** A request's body: its beginning, all of it as a stream, or all of it as latin1 text. */
type QueryBody = { head: Buffer; all: () => AsyncGenerator<Buffer>; text: () => Promise<string> }

/** Reads as much of `prefix` and body as is needed to find the statement; the rest stays in the stream until asked for. */
export const readBody = async (prefix: string, source: Readable): Promise<QueryBody> => {
  const chunks = source[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  const taken: Buffer[] = [Buffer.from(prefix, 'utf8')]
  let size = taken[0]?.length ?? 0
  const take = async (): Promise<boolean> => {
    const { done, value } = await chunks.next()
    if (done) return false
    taken.push(value)
    size += value.length
    return true
  }
  while (size < HEAD_BYTES && (await take()));
  const head = Buffer.concat(taken)
  return {
    head,
    all: async function* () {
      yield head
      for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value
    },
    text: async () => {
      while (await take())
        if (size > STATEMENT_BYTES) throw refusal(229, 'QUERY_IS_TOO_LARGE', 'The statement is too large')
      return Buffer.concat(taken).toString('latin1')
    },
  }
}

/** Leaves out the first bytes of a stream: the statement, when its data follows. */
export async function* afterBytes(source: AsyncIterable<Buffer>, count: number): AsyncGenerator<Buffer> {
  let left = count
  for await (const chunk of source) {
    if (left < chunk.length) yield chunk.subarray(left)
    left = Math.max(0, left - chunk.length)
  }
}

/** The body unpacked; undefined for an encoding that Node cannot unpack, only the engine. */
export const decoded = (source: Readable, encoding: string): Readable | undefined => {
  if (encoding === 'identity') return source
  const unpack = UNPACKERS.get(encoding)?.()
  if (unpack === undefined) return undefined
  source.once('error', (error) => unpack.destroy(error))
  source.once('close', () => source.readableEnded || unpack.destroy(new Error('The request was cut off')))
  return source.pipe(unpack)
}

const UNPACKERS = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
])

export type Spool = Awaited<ReturnType<typeof openSpool>>

/** Files from which the engine reads the data of requests: as text it would break, and it may be too large for memory. */
export const openSpool = async (folder: string) => {
  // Files that an earlier process left belong to requests that have ended with it.
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const newPath = () => join(folder, randomUUID())
  return {
    newPath,
    write: async (data: AsyncIterable<Buffer>): Promise<string> => {
      const path = newPath()
      try {
        await pipeline(data, createWriteStream(path))
        return path
      } catch (error) {
        await rm(path, { force: true })
        throw error
      }
    },
    read: (path: string): Readable => createReadStream(path),
    remove: (path: string) => rm(path, { force: true }),
  }
}
