import { derivedId } from '../../uuid.js'
import { readWaiting, writeWaiting } from '../scopes.js'
import { errors, json, ref } from './answers.js'
import { inQuery, scoped } from './parameters.js'
import type { Schema } from './record-schema.js'

// Records that wait for what they refer to, as documented.

const uuid = { type: 'string', format: 'uuid' }
const instant = { type: 'string', format: 'date-time' }
const index = { type: 'integer', minimum: 0, description: "place in the request's records" }
const count = (description: string): Schema => ({ type: 'integer', minimum: 0, description })
const object = (properties: Schema, optional: string[] = []): Schema => ({
  type: 'object',
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  properties,
})

/** The two parameters by which a request lets its records wait. */
export const waitParameters: Schema[] = [
  inQuery(
    'missing_references',
    '`wait`: a record that refers to something that is not there yet waits for it, and is accepted by itself once it is. `refuse`: it is refused at once.',
    { type: 'string', enum: ['refuse', 'wait'], default: 'refuse' },
  ),
  inQuery(
    'wait_for',
    'How long, with `missing_references=wait`: seconds, minutes, hours or days, from `1m` to `7d`. A record whose time is up is refused with `unknown_reference`.',
    { type: 'string', pattern: '^[0-9]{1,6}[smhd]$', default: '24h', examples: ['90s', '30m', '24h', '7d'] },
  ),
]

/** What an interaction that waits is answered beside itself. */
export const waitingInteraction: Schema = object({
  for: { type: 'array', items: ref('Reference') },
  until: instant,
})

export const waitingPaths = (types: string[], uploads: string[]): Record<string, Schema> => ({
  '/v1/waiting': { get: listMissing(uploads) },
  '/v1/waiting/records': { get: listWaiting(types, uploads) },
  '/v1/waiting/cancel': { post: cancel(types, uploads) },
})

const limit = inQuery('limit', 'how many at most', { type: 'integer', minimum: 1, maximum: 1000, default: 100 })
const cursor = inQuery('cursor', 'next_cursor of the page before', { type: 'string' })
const nextCursor = { type: ['string', 'null'], description: 'null on the last page' }

const listMissing = (uploads: string[]): Schema => ({
  tags: ['waiting'],
  operationId: 'list-missing',
  summary: 'What your records wait for',
  description: `Each record that is missing, with how many of yours wait for it, the one that is waited for the longest first. Upload it, and they are accepted by themselves. ${scoped(readWaiting)}`,
  parameters: [inQuery('type', 'only missing records of this type', { type: 'string', enum: uploads }), limit, cursor],
  responses: {
    200: json(
      'A page.',
      object({
        missing: { type: 'array', items: ref('AwaitedRecord') },
        waiting: count('how many of your records wait in all; one that waits for two is one'),
        next_cursor: nextCursor,
      }),
    ),
    ...errors(400, 401, 403, 405, 429, 431, 500, 503),
  },
})

const filterOf = (types: string[], uploads: string[]): Record<string, [about: string, schema: Schema]> => ({
  type: ['only records of this type', { type: 'string', enum: types }],
  id: ['only the record with this id', uuid],
  missing_type: ['with `missing_id`: only those that wait for this record', { type: 'string', enum: uploads }],
  missing_id: ['with `missing_type`: only those that wait for this record', uuid],
})

const listWaiting = (types: string[], uploads: string[]): Schema => ({
  tags: ['waiting'],
  operationId: 'list-waiting',
  summary: 'Your records that wait',
  description: `One by one, the oldest first. What became of one that no longer waits is told by \`GET /v1/requests/{request_id}\`. ${scoped(readWaiting)}`,
  parameters: [
    ...Object.entries(filterOf(types, uploads)).map(([name, [about, schema]]) => inQuery(name, about, schema)),
    limit,
    cursor,
  ],
  responses: {
    200: json('A page.', object({ records: { type: 'array', items: ref('WaitingRecord') }, next_cursor: nextCursor })),
    ...errors(400, 401, 403, 405, 429, 431, 500, 503),
  },
})

const cancel = (types: string[], uploads: string[]): Schema => ({
  tags: ['waiting'],
  operationId: 'cancel-waiting',
  summary: 'Have records wait no longer',
  description: `They are neither accepted nor refused then: as if they had never been sent. Which ones is said by \`type\` and \`id\`, or by what they wait for. One that is decided at this very moment is decided. ${scoped(writeWaiting)}`,
  requestBody: {
    required: true,
    content: {
      'application/json': {
        schema: {
          type: 'object',
          additionalProperties: false,
          properties: Object.fromEntries(
            Object.entries(filterOf(types, uploads)).map(([name, [description, schema]]) => [
              name,
              { ...schema, description },
            ]),
          ),
          anyOf: [{ required: ['type', 'id'] }, { required: ['missing_type', 'missing_id'] }],
        },
        example: { missing_type: 'shops', missing_id: derivedId('example', 'missing') },
      },
    },
  },
  responses: {
    200: json(
      'They wait no longer.',
      object({
        cancelled: count('how many waited until now'),
        complete: { type: 'boolean', description: 'false where there are more: the same request again goes on' },
      }),
    ),
    ...errors(400, 401, 403, 405, 408, 413, 415, 429, 431, 500, 503),
  },
})

/** The objects in answers that tell of waiting. */
export const waitingSchemas = (types: string[], uploads: string[]): Record<string, Schema> => {
  const type = { type: 'string', enum: types }
  const line = { type: 'integer', minimum: 1, description: 'where it begins, in the answer to a body that has lines' }
  const waitsFor = { type: 'array', items: ref('Reference'), description: 'what is missing' }
  return {
    Reference: object({
      field: { type: 'string', description: 'the field that refers to it' },
      type: { type: 'string', enum: uploads },
      id: uuid,
    }),
    RecordWait: object({ index, line, id: uuid, for: waitsFor, until: instant }, ['line']),
    RecordWaited: object(
      {
        index,
        line,
        id: uuid,
        state: {
          type: 'string',
          enum: ['accepted', 'refused', 'superseded', 'cancelled'],
          description:
            '`accepted`: what was missing came. `refused`: its time was up; it is among `errors` too. `superseded`: a newer record of the same id took its place. `cancelled`: somebody of your organisation ended it.',
        },
        at: { ...instant, description: 'when it ended to wait' },
      },
      ['line'],
    ),
    AwaitedRecord: object({
      type: { type: 'string', enum: uploads },
      id: uuid,
      waiting: count('how many records wait for it'),
      oldest: { ...instant, description: 'since when the first of them' },
      first_until: { ...instant, description: 'until when the first of them' },
      sample: {
        type: 'array',
        description: 'some of them',
        items: object({
          type,
          id: uuid,
          field: { type: ['string', 'null'], description: 'the field that refers to the missing record' },
          request_id: uuid,
          index,
          until: instant,
        }),
      },
    }),
    WaitingRecord: object({
      type,
      id: uuid,
      request_id: uuid,
      batch_id: uuid,
      index,
      for: waitsFor,
      since: instant,
      until: instant,
    }),
  }
}
