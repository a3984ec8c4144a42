import { createGunzip } from 'node:zlib'
import { type RequestError, requestError } from '../http/request-error.js'
import { overloaded } from '../limits/admission.js'

const chunkSize = 64 * 1024

/** Inflates piece by piece: a bomb of 200 MiB in 204 kB is given up on at the limit, or where there is no more room. */
export const inflate = async (
  raw: Buffer,
  { limit, hasRoom = () => true }: { limit: number; hasRoom?: (bytes: number) => boolean },
): Promise<Buffer | { error: RequestError }> => {
  const gunzip = createGunzip({ chunkSize })
  gunzip.end(raw)
  const chunks: Buffer[] = []
  let size = 0
  try {
    // Leaving the loop destroys the stream.
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > limit) return { error: requestError(413, `the body is larger than ${limit} bytes once decompressed`) }
      if (!hasRoom(size)) return { error: overloaded }
      chunks.push(chunk)
    }
  } catch {
    return { error: requestError(400, 'the body is not valid gzip') }
  }
  return Buffer.concat(chunks, size)
}
