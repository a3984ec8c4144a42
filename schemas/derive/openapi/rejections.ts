import { problemCodes } from '../../problem.js'
import { derivedId } from '../../uuid.js'
import { readRejections, writeRejections } from '../scopes.js'
import { errors, json, ref } from './answers.js'
import { idempotencyKey, inQuery, scoped } from './parameters.js'
import type { Schema } from './record-schema.js'

// An organisation's own refused records and what came in, as documented.

const uuid = { type: 'string', format: 'uuid' }
const instant = { type: 'string', format: 'date-time' }
const moment = { type: ['string', 'integer'], format: 'date-time', exclusiveMinimum: 0 }
const count = (description: string): Schema => ({ type: 'integer', minimum: 0, description })
const object = (properties: Schema, optional: string[] = []): Schema => ({
  type: 'object',
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  properties,
})

const filterProperties = (types: string[]): Record<string, [about: string, schema: Schema]> => ({
  type: ['only records of this type', { type: 'string', enum: types }],
  code: ['only those with such a problem', { type: 'string', enum: problemCodes }],
  field: ['only those with a problem in this field', { type: 'string', pattern: '^[^\\x00-\\x1f\\x7f]{1,200}$' }],
  since: ['refused since then', moment],
  until: ['refused before then', moment],
  request_id: ['only those of this request, or of this batch', uuid],
})

const inQueryOf = (types: string[]): Schema[] =>
  Object.entries(filterProperties(types)).map(([name, [about, schema]]) => inQuery(name, about, schema))

/** The paths about rejections, and about quality. */
export const rejectionPaths = (types: string[]): Record<string, Schema> => ({
  '/v1/rejections': { get: listRejections(types) },
  '/v1/rejections/summary': { get: summarise(types) },
  '/v1/rejections/retry': { post: retry(types) },
  '/v1/rejections/retries/{request_id}': { get: lookUpRetry },
  '/v1/quality': { get: quality },
})

const listRejections = (types: string[]): Schema => ({
  tags: ['rejections'],
  operationId: 'list-rejections',
  summary: 'Your refused records',
  description: `Newest first, your own organisation's only, a moment behind, for as long as rejections are kept. What is refused while you page is on the first page of the next walk. A page holds about 4 MiB of records at the most, so it may be shorter than \`limit\`; go on until \`next_cursor\` is null. ${scoped(readRejections)}`,
  parameters: [
    ...inQueryOf(types),
    inQuery('limit', 'how many at most', { type: 'integer', minimum: 1, maximum: 1000, default: 100 }),
    inQuery('cursor', 'next_cursor of the page before', { type: 'string' }),
  ],
  responses: {
    200: json('A page.', object({ rejections: { type: 'array', items: ref('Rejection') }, next_cursor: nextCursor })),
    ...errors(400, 401, 403, 405, 429, 431, 500, 503),
  },
})

const nextCursor = { type: ['string', 'null'], description: 'null on the last page' }

const summarise = (types: string[]): Schema => ({
  tags: ['rejections'],
  operationId: 'summarise-rejections',
  summary: 'Your refused records, by what is wrong with them',
  description: `Grouped by type, code and field, the largest group first. A record with several problems counts in the group of each. ${scoped(readRejections)}`,
  parameters: inQueryOf(types),
  responses: {
    200: json(
      'The groups.',
      object({
        groups: { type: 'array', items: ref('RejectionGroup') },
        complete: {
          type: 'boolean',
          description: 'false where there are more than 500 groups: the others are not shown',
        },
      }),
    ),
    ...errors(400, 401, 403, 405, 429, 431, 500, 503),
  },
})

const retry = (types: string[]): Schema => ({
  tags: ['rejections'],
  operationId: 'retry-rejections',
  summary: 'Submit refused records again',
  description: `For records whose reason is gone, such as a shop that came after its offers. Each rejection is submitted once, however many ask for it; what is refused again is a new rejection, which can be retried. Left out is what was retried before, what was accepted since under the same id (it would turn the clock back), and what was too large to be kept whole. The records go through the same checks as any upload, in the background; \`Location\` tells what becomes of them, and it goes on whatever happens to the server that answered. ${scoped(writeRejections)}`,
  parameters: [idempotencyKey],
  requestBody: {
    required: true,
    content: {
      'application/json': {
        schema: {
          type: 'object',
          additionalProperties: false,
          required: ['filter'],
          properties: {
            filter: {
              type: 'object',
              description:
                'which rejections are meant: those to which all of this applies; at least one has to be given',
              additionalProperties: false,
              minProperties: 1,
              properties: Object.fromEntries(
                Object.entries(filterProperties(types)).map(([name, [description, schema]]) => [
                  name,
                  { ...schema, description },
                ]),
              ),
            },
            dry_run: { type: 'boolean', default: false, description: 'only say what would be submitted' },
            limit: { type: 'integer', minimum: 1, maximum: 10_000, default: 1000, description: 'how many at most' },
          },
        },
        example: { filter: { type: 'offers', code: 'unknown_reference' }, dry_run: true },
      },
    },
  },
  responses: {
    200: json('A dry run: nothing was submitted.', ref('RetryPlan')),
    202: {
      ...json('Noted, and being submitted.', ref('RetryOrder')),
      headers: {
        Location: { description: 'where it can be looked up', schema: { type: 'string', format: 'uri-reference' } },
      },
    },
    ...errors(400, 401, 403, 405, 408, 409, 413, 415, 429, 431, 500, 503),
  },
})

const lookUpRetry: Schema = {
  tags: ['rejections'],
  operationId: 'look-up-retry',
  summary: 'What became of a retry',
  description: scoped(readRejections),
  parameters: [{ name: 'request_id', in: 'path', required: true, schema: uuid }],
  responses: {
    200: json('How far it is.', ref('RetryOrder')),
    ...errors(400, 401, 403, 404, 405, 414, 429, 431, 500, 503),
  },
}

const quality: Schema = {
  tags: ['rejections'],
  operationId: 'read-quality',
  summary: 'What came in, by type and day',
  description: `Received, accepted and refused records of each type and day (UTC), interactions too, the newest day first. A day on which nothing of a type came in is left out. Refused ones count for as long as rejections are kept. A record that waits counts as \`waiting\` on the day on which it came; once that has ended, as accepted, refused or undecided on the day of that. The same is in ClickHouse, as \`weir.quality\`. ${scoped(readRejections)}`,
  parameters: [
    inQuery('from', 'the first day; by default 29 days before the last', { type: 'string', format: 'date' }),
    inQuery('to', 'the last day; by default today. At most 92 days in all', { type: 'string', format: 'date' }),
  ],
  responses: {
    200: json(
      'The days.',
      object({
        from: { type: 'string', format: 'date' },
        to: { type: 'string', format: 'date' },
        days: { type: 'array', items: ref('QualityDay') },
      }),
    ),
    ...errors(400, 401, 403, 405, 429, 431, 500, 503),
  },
}

const record: Schema = {
  record: { description: 'as it was given; where `truncated`, the text of its beginning' },
  truncated: {
    type: 'boolean',
    description: 'whether the record was too large to be kept whole; it cannot be retried',
  },
}

/** The objects in their answers. */
export const rejectionSchemas = (types: string[]): Record<string, Schema> => {
  const type = { type: 'string', enum: types }
  const counted = {
    request_id: uuid,
    status: { type: 'string', enum: ['running', 'done'] },
    dry_run: { type: 'boolean' },
    matched: count('rejections that the filter means'),
    submitted: count('of these, how many are submitted again'),
    skipped: object({
      already_retried: count('retried before, or being retried'),
      accepted_since: count('a later record of the same id was accepted'),
      not_kept_whole: count('too large to be kept whole, or of no type that can be submitted'),
      over_limit: count('more than `limit`: ask again for these'),
    }),
  }
  return {
    Rejection: object(
      {
        rejection_id: { type: 'string', description: 'the same each time that it is listed' },
        type,
        id: { type: ['string', 'null'], description: 'what was given as its id' },
        index: { type: 'integer', minimum: 0, description: "place in the request's records" },
        request_id: uuid,
        batch_id: uuid,
        rejected_at: instant,
        ...record,
        problems: { type: 'array', items: ref('Problem') },
        state: {
          type: 'string',
          enum: ['open', 'retried', 'accepted_since', 'overtaken'],
          description:
            'what has happened since. `retried`: submitted again by a retry, see `retry`. `accepted_since`: a later record of the same id was accepted. `overtaken`: a later record of the same id was refused too, and none accepted. `open`: nothing.',
        },
        retry: object({
          outcome: { type: 'string', enum: ['waiting', 'accepted', 'refused'] },
          request_id: { type: ['string', 'null'], format: 'uuid', description: 'the request that it was submitted in' },
          retried_at: instant,
          answered_at: { type: ['string', 'null'], format: 'date-time' },
          retry_request_id: {
            type: ['string', 'null'],
            format: 'uuid',
            description: 'of the retry; null where an operator did it',
          },
        }),
      },
      ['retry'],
    ),
    RejectionGroup: object({
      type,
      code: { type: 'string', enum: problemCodes },
      field: { type: ['string', 'null'] },
      count: count('records with this problem'),
      first_seen: instant,
      last_seen: instant,
      sample: {
        ...object({
          rejection_id: { type: 'string' },
          id: { type: ['string', 'null'] },
          message: { type: ['string', 'null'], description: 'for people' },
          record: { description: 'as it was given; where `truncated`, the text of its beginning' },
          truncated: { type: 'boolean', description: 'whether the record is longer than is shown here' },
        }),
        type: ['object', 'null'],
        description: 'the newest of them',
      },
    }),
    RetryPlan: object(counted),
    RetryOrder: {
      ...object({
        ...counted,
        waiting: count('not decided yet'),
        accepted: count('accepted now'),
        refused: count('refused again, as new rejections'),
        given_up: count('not submitted after all: their ids were accepted meanwhile, or their records are gone'),
        requests: {
          type: 'array',
          description: 'the first hundred requests that they were submitted in',
          items: object({ request_id: uuid, type, accepted: count('accepted'), refused: count('refused') }),
        },
      }),
      examples: [
        {
          request_id: derivedId('example', 'retry'),
          status: 'done',
          dry_run: false,
          matched: 3,
          submitted: 2,
          skipped: { already_retried: 1, accepted_since: 0, not_kept_whole: 0, over_limit: 0 },
          waiting: 0,
          accepted: 2,
          refused: 0,
          given_up: 0,
          requests: [{ request_id: derivedId('example', 'request'), type: 'offers', accepted: 2, refused: 0 }],
        },
      ],
    },
    QualityDay: object({
      type,
      day: { type: 'string', format: 'date' },
      received: count('accepted, refused, waiting and undecided'),
      accepted: count('each version of a record counts'),
      refused: count('refused'),
      waiting: count('came on that day, and still wait for a record that they refer to'),
      undecided: count('waited, until a newer record of their id came or somebody cancelled it'),
      top_codes: {
        type: 'array',
        description: 'the five commonest problems',
        items: object({ code: { type: 'string', enum: problemCodes }, count: count('refused records with one') }),
      },
      last_accepted_at: { type: ['string', 'null'], format: 'date-time' },
    }),
  }
}
