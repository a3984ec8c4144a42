import type { FastifyReply, FastifyRequest } from 'fastify'
import { keyedRequestId } from '#schemas/uuid.js'
import { isIdempotencyKey } from './ids.js'
import { callerOf } from './request-context.js'
import { requestError, sendError } from './request-error.js'

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

const badKey = requestError(400, 'Idempotency-Key must be 1 to 255 visible ASCII characters')
