import { STATUS_CODES } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { Problem } from '#schemas/problem.js'

/** Why a request as a whole was not taken: a value, sent by `sendError` in the one shape that all of them have. */
export type RequestError = { status: number; message: string; headers?: Record<string, string>; problems?: Problem[] }

/** What is away may be back in a moment; told to every client that it concerns. */
export const retryLater = { 'retry-after': '5' }

export const requestError = (status: number, message: string): RequestError => ({ status, message })

/** A part that we need is away; what it is needed for may work again in a moment. */
export class Unavailable extends Error {}

export const sendError = (reply: FastifyReply, { status, message, headers, problems }: RequestError): FastifyReply =>
  reply
    .code(status)
    .headers({ 'x-request-id': reply.request.id, ...headers })
    .send({ error: STATUS_CODES[status], message, request_id: reply.request.id, ...(problems && { problems }) })

/** What a client is told of an exception: never its text, except where it was written for the client. */
export const toRequestError = (error: unknown): RequestError => {
  if (error instanceof Unavailable)
    return { status: 503, message: `${error.message}; retrying is safe`, headers: retryLater }
  const status = (error as { statusCode?: unknown }).statusCode
  const message = typeof status === 'number' ? byStatus[status] : undefined
  return typeof status === 'number' && message ? { status, message } : unexpected
}

const unexpected: RequestError = {
  status: 500,
  message: 'something went wrong here; it was logged under this request_id; retrying is safe',
  headers: retryLater,
}

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
