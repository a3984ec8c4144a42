import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { createGunzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type RequestError, requestError, sendError } from '../http/request-error.js'
import { overloaded } from '../limits/admission.js'
import { countTokens, describeLoss } from './json-exact.js'
import { describeFault, isAnotherFormat } from './json-fault.js'

/** A body as JSON, with the SHA-256 of its text; or why there is none. */
export type Body = { json: unknown; sha256: Buffer } | { error: RequestError }

// A full upload has well under 100 000 values. JSON.parse blocked the process for 2 to 4 s with 16 MiB of `[],[],…`, and
// for 2 s with 490 000 fields of different names.
const mostValues = 200_000

/** Bodies are application/json, plain or gzipped; Fastify answers 415 to any other type. */
export const addBodyParser = (app: FastifyInstance, bodyLimit: number): void => {
  app.removeAllContentTypeParsers()
  app.addHook('onRequest', refuseOtherEncodings)
  app.addContentTypeParser<Buffer>(
    'application/json',
    { parseAs: 'buffer', bodyLimit },
    (request: FastifyRequest, raw: Buffer) =>
      readBody(raw, {
        gzipped: encodingOf(request) === 'gzip',
        limit: bodyLimit,
        form: request.routeOptions.config.form,
        hasRoom: (bytes) => request.hold?.growTo(bytes) ?? true,
      }),
  )
}

/** What the parser made of this request's body; where there is no body at all Fastify does not call the parser. */
export const bodyOf = (request: FastifyRequest): Body => (request.body as Body | undefined) ?? bad('the body is empty')

type HowToRead = {
  gzipped: boolean
  /** Most bytes, after decompression. */
  limit: number
  /** A body that works. */
  form?: string | undefined
  /** Whether memory has room for a body of this size. */
  hasRoom?: (bytes: number) => boolean
}

export const readBody = async (raw: Buffer, how: HowToRead): Promise<Body> => {
  const inflated = how.gzipped ? await inflate(raw, how) : raw
  if (!Buffer.isBuffer(inflated)) return inflated
  if (inflated.length === 0) return bad('the body is empty')
  if (!isUtf8(inflated)) return bad('the body is not valid UTF-8')
  const counts = countTokens(inflated)
  if (counts.values > mostValues) return bad(`the body holds more than ${mostValues} values`)
  const text = inflated.toString()
  const parsed = parse(text)
  if (parsed === undefined) {
    const hint = how.form !== undefined && isAnotherFormat(text) ? `; a body that works: ${how.form}` : ''
    return bad(`the body is not valid JSON: ${describeFault(text)}${hint}`)
  }
  const loss = describeLoss(text, parsed.json, counts)
  if (loss !== undefined) return bad(loss)
  return { json: parsed.json, sha256: createHash('sha256').update(inflated).digest() }
}

const chunkSize = 64 * 1024

/**
 * Inflates piece by piece, and stops at the limit or where memory has no more room: 200 MiB of zeros fit into 204 kB of
 * gzip.
 */
const inflate = async (
  raw: Buffer,
  { limit, hasRoom = () => true }: HowToRead,
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
          error: requestError(
            413,
            `the body is larger than ${limit} bytes once decompressed; send fewer records in each request`,
          ),
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
const encodingOf = (request: FastifyRequest): string => (request.headers['content-encoding'] ?? '').trim().toLowerCase()

const bad = (message: string) => ({ error: requestError(400, message) })
