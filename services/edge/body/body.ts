import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { StringDecoder } from 'node:string_decoder'
import { setImmediate as nextRound } from 'node:timers/promises'
import { createGunzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type RequestError, requestError, sendError } from '#http/request-error.js'
import { createPauses, type Pause } from '#platform/process/pauses.js'
import type { Entry } from '../batches/entries.js'
import { overloaded } from '../limits/admission.js'
import type { RateLimits } from '../limits/rates.js'
import { countTokens, describeLoss, lossOf, mostNames, mostValues } from './json-exact.js'
import { describeFault, findFault } from './json-fault.js'
import { formatOf, type LinedEntries, type LinedFormat } from './lines.js'

/**
 * A body as JSON, with what was sent, and the SHA-256 of that; or why there is none. In its place `entries`, where `readEntries` or lines
 * gave them.
 */
export type Body = SentJson | { entries: Entry[]; lines?: number[]; sha256: Buffer } | { error: RequestError }
export type SentJson = { json: unknown; sent: Buffer; sha256: Buffer; entries?: undefined; lines?: undefined }

/** Reads a body that is valid UTF-8 faster than by way of JSON; undefined where it has to be read as JSON. */
export type ReadEntries = (body: Buffer, pause: Pause) => Promise<Entry[] | undefined>

/** Reads a body that has lines; or says why it is no upload. */
export type ReadLined = (body: Buffer, pause: Pause) => Promise<LinedEntries | { error: RequestError }>

declare module 'fastify' {
  interface FastifyContextConfig {
    readEntries?: ReadEntries
    /** For routes that take more than JSON. */
    readLined?: Record<LinedFormat, ReadLined>
  }
}

// A body of this size is read in a millisecond; larger ones wait for their turn.
const small = 16 * 1024

/** Bodies are JSON, and NDJSON or CSV where the route takes these; plain or gzipped. Any other type is answered 415. */
export const addBodyParser = (app: FastifyInstance, { rateLimits }: { rateLimits: RateLimits }): void => {
  app.removeAllContentTypeParsers()
  app.addHook('onRequest', refuseOtherEncodings)
  const howToRead = (request: FastifyRequest): HowToRead => ({
    gzipped: isGzipped(request),
    limit: request.routeOptions.bodyLimit,
    tooLarge: request.routeOptions.config.tooLarge,
    form: request.routeOptions.config.form,
    readEntries: request.routeOptions.config.readEntries,
    hasRoom: (bytes) => request.hold?.growTo(bytes) ?? true,
    mayRead: (bytes) => rateLimits.takeBytes(request, bytes),
    inTurn: (read) => (request.hold ? request.hold.inTurn(read) : read()),
  })
  const asBuffer = { parseAs: 'buffer' } as const
  app.addContentTypeParser<Buffer>('application/json', asBuffer, (request: FastifyRequest, raw: Buffer) =>
    readBody(raw, howToRead(request)),
  )
  for (const [contentType, format] of Object.entries(formatOf)) {
    app.addContentTypeParser<Buffer>(contentType, asBuffer, async (request: FastifyRequest, raw: Buffer) => {
      const readLined = request.routeOptions.config.readLined?.[format]
      if (!readLined) throw unsupported
      return readBody(raw, { ...howToRead(request), lined: { format, read: readLined } })
    })
  }
}

/** What Fastify throws where it knows no parser. */
const unsupported = Object.assign(new Error('this route takes JSON only'), { statusCode: 415 })

type HowToRead = {
  gzipped: boolean
  /** Most bytes, after decompression. */
  limit: number
  /** What to do about a body that is larger. */
  tooLarge?: string | undefined
  /** A body that works. */
  form?: string | undefined
  readEntries?: ReadEntries | undefined
  /** How to read the body, if it is not JSON. */
  lined?: { format: LinedFormat; read: ReadLined }
  /** Whether memory has room for a body of this size. */
  hasRoom?: (bytes: number) => boolean
  /** Why a body of this size is not read now, if it is not. */
  mayRead?: (bytes: number) => RequestError | undefined
  /** Reads a large body when its turn comes; undefined where it does not come in time. */
  inTurn?: (read: () => Promise<Body>) => Promise<Body | undefined>
}

export const readBody = async (raw: Buffer, how: HowToRead): Promise<Body> => {
  const inflated = how.gzipped ? await inflate(raw, how) : raw
  if (!Buffer.isBuffer(inflated)) return inflated
  const error = how.mayRead?.(inflated.length)
  if (error) return { error }
  const read = () => readText(inflated, how)
  if (inflated.length <= small || !how.inTurn) return read()
  return (await how.inTurn(read)) ?? { error: overloaded }
}

const readText = async (bytes: Buffer, { readEntries, form, lined }: HowToRead): Promise<Body> => {
  if (bytes.length === 0) return bad('the body is empty')
  // To put a large one together took its time already.
  if (bytes.length > pieceSize) await nextRound()
  const pause = createPauses()
  if (lined) {
    const read = await lined.read(bytes, pause)
    // With the format: the same bytes are another request as CSV than as JSON.
    return 'error' in read ? read : { ...read, sha256: sha256Of(Buffer.from(lined.format), bytes) }
  }
  if (!isUtf8(bytes)) return bad('the body is not valid UTF-8')
  await pause()
  const entries = await readEntries?.(bytes, pause)
  if (entries) return { entries, sha256: sha256Of(bytes) }
  await pause()
  return readJson(bytes, form, pause)
}

const sha256Of = (...parts: Buffer[]): Buffer => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/** Whatever is in the body, no step takes more than some 40 ms for 16 MiB; between the steps others are served. */
const readJson = async (bytes: Buffer, form: string | undefined, pause: Pause): Promise<Body> => {
  const counts = countTokens(bytes)
  if (counts.values > mostValues)
    return bad(`the body holds more than ${mostValues} values; send fewer records in each request`)
  if (counts.differentNames > mostNames)
    return bad(`the body holds more than ${mostNames} different names of fields; /docs shows those that there are`)
  await pause()
  const text = await decode(bytes, pause)
  const parsed = parse(text)
  await pause()
  if (parsed === undefined) {
    const fault = findFault(text)
    await pause()
    const { message, isAnotherFormat } = describeFault(text, fault)
    const hint = form !== undefined && isAnotherFormat ? `; a body that works: ${form}` : ''
    return bad(`the body is not valid JSON: ${message}${hint}`)
  }
  const loss = lossOf(text, parsed.json, counts)
  await pause()
  if (loss) return bad(describeLoss(text, loss))
  return { json: parsed.json, sent: bytes, sha256: sha256Of(bytes) }
}

const pieceSize = 1024 * 1024

/** The text of valid UTF-8, piece by piece: 16 MiB of Chinese take 80 ms. */
const decode = async (bytes: Buffer, pause: Pause): Promise<string> => {
  if (bytes.length <= pieceSize) return bytes.toString()
  // Keeps the first bytes of a character that is cut in two until its rest has come.
  const decoder = new StringDecoder('utf8')
  let text = ''
  for (let at = 0; at < bytes.length; at += pieceSize) {
    text += decoder.write(bytes.subarray(at, at + pieceSize))
    await pause()
  }
  return text
}

const chunkSize = 64 * 1024

/** Inflates piece by piece, up to the limit or the room in memory: 200 MiB of zeros fit into 204 kB of gzip. */
const inflate = async (
  raw: Buffer,
  { limit, tooLarge = 'send less in each request', hasRoom = () => true }: HowToRead,
): Promise<Buffer | { error: RequestError }> => {
  const gunzip = createGunzip({ chunkSize })
  gunzip.end(raw)
  const chunks: Buffer[] = []
  let size = 0
  try {
    // Leaving the loop destroys the stream.
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > limit)
        return {
          error: requestError(413, `the body is larger than ${limit} bytes once decompressed; ${tooLarge}`),
        }
      if (!hasRoom(size)) return { error: overloaded }
      chunks.push(chunk)
    }
  } catch {
    return { error: requestError(400, 'the body is not valid gzip') }
  }
  return Buffer.concat(chunks, size)
}

const parse = (text: string): { json: unknown } | undefined => {
  try {
    return { json: JSON.parse(text) }
  } catch {
    // JSON.parse's own message quotes the body; that of describeFault does not.
    return undefined
  }
}

const refuseOtherEncodings = async (
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply | undefined> => {
  // Content-Encoding is about a body, and these methods have none.
  const isBodyless = request.method === 'GET' || request.method === 'HEAD'
  return isBodyless || takenEncodings.includes(encodingOf(request))
    ? undefined
    : sendError(reply, requestError(415, 'the only Content-Encoding taken is gzip'))
}

const takenEncodings = ['', 'identity', 'gzip']
export const isGzipped = (request: FastifyRequest): boolean => encodingOf(request) === 'gzip'
const encodingOf = (request: FastifyRequest): string => (request.headers['content-encoding'] ?? '').trim().toLowerCase()

const bad = (message: string) => ({ error: requestError(400, message) })
