import { derivedId } from '#schemas/uuid.js'

// With an Idempotency-Key, the same request has the same ids each time that it is sent: they are derived, not drawn.

export const keyedRequestId = (orgId: string, route: string, key: string): string =>
  derivedId('request', orgId, route, key)

export const keyedInteractionId = (orgId: string, key: string): string => derivedId('interaction', orgId, key)

/** Another cut of the same request has other batches: `count` is part of the id. */
export const batchIdOf = (requestId: string, firstIndex: number, count: number): string =>
  derivedId('batch', requestId, String(firstIndex), String(count))
