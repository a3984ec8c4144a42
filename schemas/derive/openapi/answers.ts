import { problemCodes } from '../../problem.js'
import type { Schema } from './record-schema.js'

export const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })
export const json = (description: string, schema: Schema): Schema => ({
  description,
  content: { 'application/json': { schema } },
})
export const errors = (...statuses: number[]): Schema =>
  Object.fromEntries(statuses.map((status) => [status, { $ref: `#/components/responses/${status}` }]))

const text = (description: string): Schema => ({ type: 'string', description })
const object = (properties: Schema, optional: string[] = []): Schema => ({
  type: 'object',
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  properties,
})

/** What every operation answers with. */
export const answerSchemas = (types: string[]): Record<string, Schema> => ({
  Error: object(
    {
      error: text("the status's name"),
      message: text('what is wrong, for people'),
      request_id: { type: 'string', format: 'uuid' },
      problems: { type: 'array', items: ref('Problem') },
    },
    ['problems'],
  ),
  Problem: object({
    field: { type: ['string', 'null'], description: 'null where it is the record as a whole' },
    code: { type: 'string', enum: problemCodes, description: 'stable: branch on this' },
    message: text('for people'),
  }),
  RecordError: object({
    index: { type: 'integer', minimum: 0, description: "place in the request's records" },
    id: { type: ['string', 'null'], description: 'what was given as its id' },
    problems: { type: 'array', items: ref('Problem') },
  }),
  UploadAnswer: object({
    request_id: { type: 'string', format: 'uuid' },
    type: { type: 'string', enum: types },
    batches: { type: 'array', minItems: 1, items: ref('BatchAnswer') },
  }),
  BatchAnswer: object({
    batch: { type: 'integer', minimum: 1 },
    status: { type: 'integer', enum: [200, 202, 207, 400, 500] },
    data: object(
      {
        status: { type: 'string', enum: ['success', 'partial', 'error', 'pending'] },
        type: { type: 'string', enum: types },
        message: text('a summary'),
        request_id: { type: 'string', format: 'uuid' },
        batch_id: {
          type: ['string', 'null'],
          format: 'uuid',
          description: 'null where the batch is pending and its id is not known',
        },
        error: { type: ['string', 'null'], description: 'null on success' },
        errors: { type: 'array', items: ref('RecordError') },
      },
      ['errors'],
    ),
  }),
  Readiness: object({
    status: { type: 'string', enum: ['ready', 'not_ready'] },
    parts: {
      type: 'object',
      additionalProperties: object({ ok: { type: 'boolean' }, problem: { type: 'string' } }, ['problem']),
    },
  }),
})

const count = (description: string): Schema => ({ description, schema: { type: 'integer', minimum: 0 } })
export const retryAfter: Schema = { 'Retry-After': count('seconds until the same request is worth trying again') }
const limitHeaders: Schema = {
  ...retryAfter,
  'RateLimit-Limit': count('how much may be sent at once'),
  'RateLimit-Remaining': count('how much of that is left'),
  'RateLimit-Reset': count('seconds until all of it is there again'),
}

export const errorResponses: Record<string, Schema> = {
  400: json('The request is wrong.', ref('Error')),
  401: json('The API key is invalid or missing.', ref('Error')),
  403: json('The key lacks the scope that is named.', ref('Error')),
  404: json('There is nothing of yours at this address.', ref('Error')),
  405: json('The address is right, the method is not.', ref('Error')),
  408: json('The request did not arrive in time.', ref('Error')),
  409: json('This Idempotency-Key was used with another body.', ref('Error')),
  413: json('The body is too large.', ref('Error')),
  415: json('The body is not application/json, or encoded other than by gzip.', ref('Error')),
  414: json('The address is too long.', ref('Error')),
  431: json('The headers, or the address with them, are too large.', ref('Error')),
  429: {
    ...json('The key has sent too much: the message says what, Retry-After when to try again.', ref('Error')),
    headers: limitHeaders,
  },
  500: { ...json('Something went wrong here; retrying is safe.', ref('Error')), headers: retryAfter },
  503: {
    ...json('A part is away, or too much is in flight; retrying after Retry-After is safe.', ref('Error')),
    headers: retryAfter,
  },
}
