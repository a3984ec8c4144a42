import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { describeFault } from './json-fault.js'
import { countValues } from './json-values.js'
import { type RequestError, requestError, sendError } from './request-error.js'

/** A body as JSON, with the SHA-256 of its text; or why there is none. */
export type Body = { json: unknown; sha256: Buffer } | { error: RequestError }

const inflate = promisify(gunzip)
// JSON.parse held the process for 2 to 4 s with 16 MiB of `[],[],…`; a full upload has well under 100 000 values.
const mostValues = 500_000

/** Bodies are application/json, plain or gzipped; Fastify answers 415 to any other type. */
export const addBodyParser = (app: FastifyInstance, bodyLimit: number): void => {
  app.removeAllContentTypeParsers()
  app.addHook('onRequest', refuseOtherEncodings)
  app.addContentTypeParser<Buffer>(
    'application/json',
    { parseAs: 'buffer', bodyLimit },
    (request: FastifyRequest, raw: Buffer) =>
      readBody(raw, { gzipped: encodingOf(request) === 'gzip', limit: bodyLimit }),
  )
}

/** What the parser made of this request's body; Fastify does not call it where there is no body at all. */
export const bodyOf = (request: FastifyRequest): Body => (request.body as Body | undefined) ?? bad('the body is empty')

export const readBody = async (raw: Buffer, how: { gzipped: boolean; limit: number }): Promise<Body> => {
  const inflated = how.gzipped ? await decompress(raw, how.limit) : raw
  if (!Buffer.isBuffer(inflated)) return inflated
  if (inflated.length === 0) return bad('the body is empty')
  if (!isUtf8(inflated)) return bad('the body is not valid UTF-8')
  if (countValues(inflated) > mostValues) return bad(`the body holds more than ${mostValues} values`)
  const text = inflated.toString()
  try {
    return { json: JSON.parse(text), sha256: createHash('sha256').update(inflated).digest() }
  } catch {
    // The engine's own message quotes the body.
    return bad(`the body is not valid JSON: ${describeFault(text)}`)
  }
}

const refuseOtherEncodings = async (
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply | undefined> => {
  const encoding = encodingOf(request)
  return encoding === '' || encoding === 'gzip'
    ? undefined
    : sendError(reply, requestError(415, 'the only Content-Encoding taken is gzip'))
}

const encodingOf = (request: FastifyRequest): string => (request.headers['content-encoding'] ?? '').trim().toLowerCase()

const decompress = async (raw: Buffer, limit: number): Promise<Buffer | { error: RequestError }> => {
  try {
    return await inflate(raw, { maxOutputLength: limit })
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
      ? { error: requestError(413, `the body is larger than ${limit} bytes once decompressed`) }
      : bad('the body is not valid gzip')
  }
}

const bad = (message: string) => ({ error: requestError(400, message) })
