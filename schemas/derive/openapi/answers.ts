import { STATUS_CODES } from 'node:http'
import { problemCodes } from '../../problem.js'
import type { RecordType } from '../../record.js'
import { derivedId } from '../../uuid.js'
import type { Schema } from './record-schema.js'

export const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })
export const json = (description: string, schema: Schema, example?: Schema): Schema => ({
  description,
  content: { 'application/json': { schema, ...(example && { example }) } },
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
  RecordError: object(
    {
      index: { type: 'integer', minimum: 0, description: "place in the request's records" },
      line: { type: 'integer', minimum: 1, description: 'where it begins, in the answer to a body that has lines' },
      id: { type: ['string', 'null'], description: 'what was given as its id' },
      problems: { type: 'array', items: ref('Problem') },
    },
    ['line'],
  ),
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
        error: { type: ['string', 'null'], description: 'null where nothing was refused' },
        errors: { type: 'array', items: ref('RecordError') },
        waiting: { type: 'array', items: ref('RecordWait'), description: 'records that wait for what they refer to' },
        waited: {
          type: 'array',
          items: ref('RecordWaited'),
          description: 'records that waited, and what came of them; in a look-up, or where a request is sent again',
        },
      },
      ['errors', 'waiting', 'waited'],
    ),
  }),
  ImportBatch: object({
    batch: { type: 'integer', minimum: 1, description: 'counted over the whole import' },
    status: { type: 'integer', enum: [200, 207, 400, 500] },
    request_id: { type: 'string', format: 'uuid', description: 'of the part of the import that the batch is of' },
    batch_id: { type: ['string', 'null'], format: 'uuid' },
    from_line: { type: 'integer', minimum: 1 },
    to_line: { type: 'integer', minimum: 1 },
    accepted: { type: 'integer', minimum: 0 },
    refused: { type: 'array', items: ref('RecordError'), description: '`index` is counted over the whole import' },
    waiting: { type: 'array', items: ref('RecordWait'), description: 'likewise' },
  }),
  ImportSummary: object({
    summary: object({
      request_id: { type: 'string', format: 'uuid' },
      type: { type: 'string', enum: types },
      records: { type: 'integer', minimum: 0, description: 'in the batches above' },
      accepted: { type: 'integer', minimum: 0 },
      refused: { type: 'integer', minimum: 0 },
      waiting: { type: 'integer', minimum: 0 },
      batches: { type: 'integer', minimum: 0 },
      complete: { type: 'boolean', description: 'whether all of the body was read and decided' },
      message: text('what happened and, where it is not complete, how to go on'),
    }),
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

/** An answer as it looks with this status; without it the page would show the first word of each list. */
export const errorExample = (status: number, message: string, problems?: Schema[]): Schema => ({
  error: STATUS_CODES[status],
  message,
  request_id: requestIdExample,
  ...(problems && { problems }),
})

const requestIdExample = derivedId('example', 'request')
const batchIdExample = derivedId('example', 'batch')

/** What an upload of one or two records is answered with this status. */
export const uploadExample = (type: RecordType, status: 200 | 202 | 207 | 400 | 500): Schema => {
  const problem = { field: type.id, code: 'missing_field', message: `${type.id} is required` }
  const refused = (index: number) => ({ errors: [{ index, id: null, problems: [problem] }] })
  const unknown = `outcome unknown; retrying is safe; GET /v1/requests/${requestIdExample} tells`
  const [word, message, error, more] = {
    200: ['success', '1 record accepted', null, {}],
    202: ['pending', 'not decided yet', null, {}],
    207: [
      'partial',
      '1 of 2 records accepted',
      `1 of 2 records refused; the first is records[1]: ${problem.message}`,
      refused(1),
    ],
    400: [
      'error',
      '0 of 1 record accepted',
      `1 of 1 record refused; the first is records[0]: ${problem.message}`,
      refused(0),
    ],
    500: ['error', 'no verdict came in time', unknown, {}],
  }[status] as [string, string, string | null, Schema]
  const request = { type: type.type, request_id: requestIdExample }
  const data = { status: word, message, ...request, batch_id: batchIdExample, error, ...more }
  return { ...request, batches: [{ batch: 1, status, data }] }
}

/** What an import of two records is answered. */
export const importExample = (type: RecordType): string => {
  const problem = { field: type.id, code: 'missing_field', message: `${type.id} is required` }
  const batch = {
    batch: 1,
    status: 207,
    request_id: derivedId('example', 'part'),
    batch_id: batchIdExample,
    from_line: 1,
    to_line: 2,
    accepted: 1,
    refused: [{ index: 1, line: 2, id: null, problems: [problem] }],
    waiting: [],
  }
  const counts = { records: 2, accepted: 1, refused: 1, waiting: 0, batches: 1, complete: true }
  const summary = { request_id: requestIdExample, type: type.type, ...counts, message: '1 of 2 records accepted' }
  return `${JSON.stringify(batch)}\n${JSON.stringify({ summary })}\n`
}

const error = (status: number, description: string): Schema =>
  json(
    description,
    ref('Error'),
    errorExample(status, `${description.slice(0, 1).toLowerCase()}${description.slice(1, -1)}`),
  )

export const errorResponses: Record<string, Schema> = {
  400: error(400, 'The request is wrong.'),
  401: error(401, 'The API key is invalid or missing.'),
  403: error(403, 'The key lacks the scope that is named.'),
  404: error(404, 'There is nothing of yours at this address.'),
  405: error(405, 'The address is right, the method is not.'),
  408: error(408, 'The request did not arrive in time.'),
  409: error(409, 'This Idempotency-Key was used with another body.'),
  413: error(413, 'The body is too large.'),
  415: error(415, 'The body is of a format that is not taken here, or encoded other than by gzip.'),
  414: error(414, 'The address is too long.'),
  431: error(431, 'The headers, or the address with them, are too large.'),
  429: {
    ...error(429, 'The key has sent too much: the message says what, Retry-After when to try again.'),
    headers: limitHeaders,
  },
  500: { ...error(500, 'Something went wrong here; retrying is safe.'), headers: retryAfter },
  503: {
    ...error(503, 'A part is away, or too much is in flight; retrying after Retry-After is safe.'),
    headers: retryAfter,
  },
}
