import { uuidv7 } from 'uuidv7'

/** Ids of requests and interactions that come once: in the order of time, so that indexes grow at their end. */
export const newId = (): string => uuidv7()

const keyPattern = /^[\x21-\x7e]{1,255}$/
export const isIdempotencyKey = (text: string): boolean => keyPattern.test(text)
