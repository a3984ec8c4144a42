import { uuidv7 } from 'uuidv7'
import { derivedId } from '#platform/derived-id.js'

/** Ids of requests and interactions that come once: in the order of time, so that indexes grow at their end. */
export const newId = (): string => uuidv7()

/** With an Idempotency-Key, the same request has the same ids each time that it is sent. */
export const keyedRequestId = (orgId: string, route: string, key: string): string =>
  derivedId('request', orgId, route, key)
export const keyedInteractionId = (orgId: string, key: string): string => derivedId('interaction', orgId, key)
export const batchIdOf = (requestId: string, firstIndex: number, count: number): string =>
  derivedId('batch', requestId, String(firstIndex), String(count))

const keyPattern = /^[\x21-\x7e]{1,255}$/
export const isIdempotencyKey = (text: string): boolean => keyPattern.test(text)
