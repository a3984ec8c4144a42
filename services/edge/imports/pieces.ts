import { finished, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'

/** Bytes of a body, in its order; `isLast` where no more will come. */
export type Piece = { bytes: Buffer; isLast: boolean }

/** Why an import ends before its body does, in words for its client; `status` is for one that has not begun to answer. */
export class ImportEnded extends Error {
  readonly status: number
  constructor(message: string, status = 400, options?: ErrorOptions) {
    super(message, options)
    this.status = status
  }
}

// Bytes that arrive together are looked at together: a client that sends single bytes costs no more than one that does not.
const enough = 64 * 1024

/** Reads a body piece by piece, at the pace of its reader. Throws `ImportEnded` where it stops coming, or the signal's reason. */
export const createPieces = (
  body: Readable,
  options: {
    isGzipped: boolean
    /** Milliseconds over which the body has to come at the least rate, or faster. */
    within: number
    /** The least rate, in bytes a second. */
    leastRate: number
    signal: AbortSignal
  },
): (() => Promise<Piece>) => {
  const source = options.isGzipped ? inflated(body) : body
  // Never left by `return`: that would close the connection on which the answer is still to go out.
  const iterator = source[Symbol.asyncIterator]() as AsyncIterator<Buffer>

  const gather = async (): Promise<Piece> => {
    const parts: Buffer[] = []
    let size = 0
    while (size < enough) {
      const { value, done } = await iterator.next()
      if (done) return { bytes: Buffer.concat(parts, size), isLast: true }
      parts.push(value)
      size += value.length
    }
    return { bytes: Buffer.concat(parts, size), isLast: false }
  }

  // How long the body may be waited for. What comes adds as much to it as it may take; what the reader does meanwhile costs nothing.
  let left = options.within
  return async () => {
    const since = performance.now()
    const { promise, stop } = interrupted(options, left)
    try {
      const piece = await Promise.race([gather().catch(explain), promise])
      const earned = (piece.bytes.length / options.leastRate) * 1000
      left = Math.min(options.within, left - (performance.now() - since) + earned)
      return piece
    } finally {
      stop()
    }
  }
}

const inflated = (body: Readable): Readable => {
  const gunzip = createGunzip({ chunkSize: enough })
  finished(body, { writable: false }, (error) => {
    if (error) gunzip.destroy(error)
  })
  return body.pipe(gunzip)
}

const explain = (error: NodeJS.ErrnoException): never => {
  throw new ImportEnded(
    error.code?.startsWith('Z_') ? 'the body is not valid gzip, or its end is missing' : 'the body was cut off',
    400,
    { cause: error },
  )
}

/** Rejects after `ms` milliseconds, or once the signal is aborted. */
const interrupted = (
  { signal, within, leastRate }: { signal: AbortSignal; within: number; leastRate: number },
  ms: number,
): { promise: Promise<never>; stop: () => void } => {
  let stop = () => {}
  const promise = new Promise<never>((_, reject) => {
    const leave = () => reject(signal.reason)
    const timer = setTimeout(
      () =>
        reject(
          new ImportEnded(
            `the body stopped coming, or came too slowly: less than ${leastRate} bytes a second over ${within / 1000} s`,
            408,
          ),
        ),
      ms,
    )
    stop = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', leave)
    }
    if (signal.aborted) leave()
    signal.addEventListener('abort', leave)
  })
  return { promise, stop }
}
