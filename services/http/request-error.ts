import { STATUS_CODES } from 'node:http'
import type { FastifyReply } from 'fastify'
import { writeJson as write } from '#schemas/json-text.js'
import type { Problem } from '#schemas/problem.js'

/** Why a request as a whole was not taken: a value, which `sendError` sends in the one shape that all errors have. */
export type RequestError = {
  status: number
  message: string
  headers?: Record<string, string>
  problems?: Problem[]
  /** What an endpoint's own error says beyond that. */
  more?: object
}

/** A header for every answer to a request that may succeed in a moment. */
export const retryLater = { 'retry-after': '5' }

export const requestError = (status: number, message: string): RequestError => ({ status, message })
/** Why a request was not taken that may succeed in a moment. */
export const tryLater = (status: number, message: string): RequestError => ({ status, message, headers: retryLater })

/** Thrown where a part that a request needs is away; the same request may succeed in a moment. */
export class Unavailable extends Error {}

/** JSON that ends in a newline: a terminal's prompt then stands on a line of its own. */
export const writeJson = (payload: unknown): string => `${write(payload)}\n`

export const sendError = (
  reply: FastifyReply,
  { status, message, headers, problems, more }: RequestError,
): FastifyReply =>
  reply
    .code(status)
    // Fastify leaves the app's own serializer out where there is no route, and the type where there is a serializer.
    .type('application/json; charset=utf-8')
    .serializer(writeJson)
    .headers({ 'x-request-id': reply.request.id, ...headers })
    .send({
      error: STATUS_CODES[status],
      message,
      request_id: reply.request.id,
      ...(problems && { problems }),
      ...more,
    })

/** What a client reads about an exception: never the exception's text, unless that was written for clients. */
export const toRequestError = (error: unknown): RequestError => {
  if (error instanceof Unavailable) return tryLater(503, `${error.message}; retrying is safe`)
  const status = (error as { statusCode?: unknown }).statusCode
  const message = typeof status === 'number' ? byStatus[status] : undefined
  return typeof status === 'number' && message ? { status, message } : unexpected
}

const unexpected = tryLater(500, 'something went wrong here; it was logged under this request_id; retrying is safe')

/** What Fastify refuses by itself, in our words. */
const byStatus: Readonly<Record<number, string>> = {
  400: 'the request is malformed',
  404: 'there is nothing at this address',
  408: 'the request did not arrive in time',
  413: 'the body is too large',
  414: 'the address is too long',
  415: 'send the body as application/json',
  431: 'the headers are too large',
}
