import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { createGunzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type RequestError, requestError, sendError } from '../http/request-error.js'
import { overloaded } from '../limits/admission.js'
import { countTokens, describeLoss } from './json-exact.js'
import { describeFault } from './json-fault.js'

/** A body as JSON, with the SHA-256 of its text; or why there is none. */
export type Body = { json: unknown; sha256: Buffer } | { error: RequestError }

// JSON.parse held the process for 2 to 4 s with 16 MiB of `[],[],…`; a full upload has well under 100 000 values.
// 490 000 fields of different names took it 2 s.
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
        hasRoom: (bytes) => request.hold?.growTo(bytes) ?? true,
      }),
  )
}

/** What the parser made of this request's body; Fastify does not call it where there is no body at all. */
export const bodyOf = (request: FastifyRequest): Body => (request.body as Body | undefined) ?? bad('the body is empty')

type HowToRead = { gzipped: boolean; limit: number; hasRoom?: (bytes: number) => boolean }

export const readBody = async (raw: Buffer, how: HowToRead): Promise<Body> => {
  const inflated = how.gzipped ? await inflate(raw, how) : raw
  if (!Buffer.isBuffer(inflated)) return inflated
  if (inflated.length === 0) return bad('the body is empty')
  if (!isUtf8(inflated)) return bad('the body is not valid UTF-8')
  const counts = countTokens(inflated)
  if (counts.values > mostValues) return bad(`the body holds more than ${mostValues} values`)
  const text = inflated.toString()
  const parsed = parse(text)
  if (parsed === undefined) return bad(`the body is not valid JSON: ${describeFault(text)}`)
  const loss = describeLoss(text, parsed.json, counts)
  if (loss !== undefined) return bad(loss)
  return { json: parsed.json, sha256: createHash('sha256').update(inflated).digest() }
}

const parse = (text: string): { json: unknown } | undefined => {
  try {
    return { json: JSON.parse(text) }
  } catch {
    // The engine's own message quotes the body.
    return undefined
  }
}

const refuseOtherEncodings = async (
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply | undefined> => {
  // Only a body is encoded, and these have none.
  const isBodyless = request.method === 'GET' || request.method === 'HEAD'
  return isBodyless || takenEncodings.includes(encodingOf(request))
    ? undefined
    : sendError(reply, requestError(415, 'the only Content-Encoding taken is gzip'))
}

const takenEncodings = ['', 'identity', 'gzip']
const encodingOf = (request: FastifyRequest): string => (request.headers['content-encoding'] ?? '').trim().toLowerCase()

const bad = (message: string) => ({ error: requestError(400, message) })

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
