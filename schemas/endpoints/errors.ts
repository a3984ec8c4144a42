import { STATUS_CODES } from 'node:http'
import { derivedId } from '../uuid.js'
import type { EndpointAnswer } from './endpoint.js'
import * as v from './values.js'

// The one shape that all errors have, and what each status means.

export const errorFields = {
  error: v.text("the status's name"),
  message: v.text('what is wrong, for people'),
  request_id: v.uuid,
  problems: v.optional(v.problems),
}
export const error = v.named('Error', errorFields)

export const retryAfter = { 'Retry-After': v.count('seconds until the same request is worth trying again') }

/** An error as it looks with this status; without it the page would show the first word of each list. */
export const errorAnswer = (
  status: number,
  about: string,
  { message = `${about.slice(0, 1).toLowerCase()}${about.slice(1, -1)}`, ...more }: ErrorExample = {},
) => ({
  about,
  schema: error,
  example: { error: STATUS_CODES[status], message, request_id: derivedId('example', 'request'), ...more },
})
type ErrorExample = { message?: string; problems?: object[] }

export const errorAnswers: Readonly<Record<number, EndpointAnswer>> = {
  400: errorAnswer(400, 'The request is wrong.'),
  401: errorAnswer(401, 'The API key is invalid or missing.'),
  403: errorAnswer(403, 'The key lacks the scope that is named.'),
  404: errorAnswer(404, 'There is nothing of yours at this address.'),
  405: errorAnswer(405, 'The address is right, the method is not.'),
  408: errorAnswer(408, 'The request did not arrive in time.'),
  409: errorAnswer(409, 'This Idempotency-Key was used with another body.'),
  413: errorAnswer(413, 'The body is too large.'),
  414: errorAnswer(414, 'The address is too long.'),
  415: errorAnswer(415, 'The body is of a format that is not taken here, or encoded other than by gzip.'),
  429: {
    ...errorAnswer(429, 'The key has sent too much: the message says what, Retry-After when to try again.'),
    headers: {
      ...retryAfter,
      'RateLimit-Limit': v.count('how much may be sent at once'),
      'RateLimit-Remaining': v.count('how much of that is left'),
      'RateLimit-Reset': v.count('seconds until all of it is there again'),
    },
  },
  431: errorAnswer(431, 'The headers, or the address with them, are too large.'),
  500: { ...errorAnswer(500, 'Something went wrong here; retrying is safe.'), headers: retryAfter },
  503: {
    ...errorAnswer(503, 'A part is away, or too much is in flight; retrying after Retry-After is safe.'),
    headers: retryAfter,
  },
}
