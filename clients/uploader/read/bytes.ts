import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { UsageError } from './row.js'

/** The text of a file in UTF-8 from an offset on. Offsets count bytes of that: uncompressed, and decoded where it is not UTF-8. */
export type Bytes = {
  from: (offset: number) => AsyncIterable<Buffer>
  /** How many compressed or plain bytes of the file were read so far, for the progress. */
  read: () => number
}

// Larger ones are not read faster, and leave more behind for the garbage collector.
const blockSize = 64 * 1024

/** The bytes of a file, or of standard input, which can be read once and from its start only. */
export const openBytes = (file: string, { gzipped, encoding }: { gzipped: boolean; encoding: string }): Bytes => {
  let read = 0
  const raw = (start: number): NodeJS.ReadableStream =>
    file === '-' ? process.stdin : createReadStream(file, { start, highWaterMark: blockSize })
  return {
    read: () => read,
    from: async function* (offset) {
      // What is unpacked or decoded is read from its start, and passed over up to the offset.
      const seeks = !gzipped && file !== '-' && encoding === 'utf-8'
      const source = raw(seeks ? offset : 0)
      read = seeks ? offset : 0
      source.on('data', (block: Buffer | string) => {
        read += block.length
      })
      const plain = gzipped ? pipeline(source, createGunzip({ chunkSize: blockSize }), () => {}) : source
      let at = seeks ? offset : 0
      try {
        for await (const block of inUtf8(plain as AsyncIterable<Buffer>, encoding)) {
          const kept = at < offset ? block.subarray(Math.min(block.length, offset - at)) : block
          at += block.length
          if (kept.length > 0) yield kept
        }
      } catch (error) {
        throw asUsage(file, error)
      }
    },
  }
}

async function* inUtf8(blocks: AsyncIterable<Buffer>, encoding: string): AsyncGenerator<Buffer> {
  if (encoding === 'utf-8') return yield* blocks
  // A sign that is replaced would be sent as if it stood there. Without `fatal`, Node 20 also reads windows-1252 as latin1.
  const decoder = new TextDecoder(encoding, { fatal: true })
  for await (const block of blocks) yield Buffer.from(decoder.decode(block, { stream: true }))
  yield Buffer.from(decoder.decode())
}

/** As many bytes as show what a file is. */
export const mostFirstBytes = 64 * 1024

/** The first bytes of a file, as they are. */
export const firstBytes = async (file: string, most = mostFirstBytes): Promise<Buffer> => {
  if (file === '-') return peek(process.stdin)
  const handle = await open(file).catch((error: unknown) => {
    throw asUsage(file, error)
  })
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(most), 0, most, 0)
    return buffer.subarray(0, bytesRead)
  } catch (error) {
    throw asUsage(file, error)
  } finally {
    await handle.close()
  }
}

/** The first bytes of a stream, which stay in it. */
const peek = async (stream: NodeJS.ReadStream): Promise<Buffer> => {
  await Promise.race([once(stream, 'readable'), once(stream, 'end')])
  const first = stream.read() as Buffer | null
  if (first) stream.unshift(first)
  return first ?? Buffer.alloc(0)
}

export const isGzip = (bytes: Buffer): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b

const asUsage = (file: string, error: unknown): unknown => {
  const code = (error as NodeJS.ErrnoException).code
  if (code === 'ENOENT') return new UsageError(`there is no file ${file}: look for a slip in its name`)
  if (code === 'EACCES') return new UsageError(`${file} may not be read by you: chmod u+r '${file}'`)
  if (code === 'EISDIR') return new UsageError(`${file} is a folder within a folder: name it by itself`)
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA')
    return new UsageError(`${file} is not written in that encoding: name another one with --encoding`)
  if (code?.startsWith('Z_'))
    return new UsageError(`${file} is not whole as gzip (${(error as Error).message}): make or fetch it again`)
  return error
}
