import type { FastifyReply, FastifyRequest } from 'fastify'
import { uuidv7 } from 'uuidv7'
import { isGathered, keyedRequestId } from '#schemas/uuid.js'
import { callerOf } from './request-context.js'
import { requestError, sendError } from './request-error.js'

/** An id for what comes without an Idempotency-Key. It grows with time, so that indexes grow at their end. */
export const newId = (): string => {
  const id = uuidv7()
  return isGathered(id) ? newId() : id
}

/** A hook for routes that take an Idempotency-Key: with one, the request has the same id each time that it is sent. */
export const takeIdempotencyKey = async (
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply | undefined> => {
  const key = request.headers['idempotency-key']
  if (key === undefined) return undefined
  if (typeof key !== 'string' || !isIdempotencyKey(key)) return sendError(reply, badKey)
  request.idempotencyKey = key
  request.id = keyedRequestId(callerOf(request).orgId, request.routeOptions.url ?? '', key)
  return undefined
}

/** The answer to a request whose Idempotency-Key came with another body before. */
export const keyConflict = requestError(
  409,
  'this Idempotency-Key was used with another body; send the first body again, or use a new key',
)

export const isIdempotencyKey = (text: string): boolean => /^[\x21-\x7e]{1,255}$/.test(text)

const badKey = requestError(400, 'Idempotency-Key must be 1 to 255 visible ASCII characters')
