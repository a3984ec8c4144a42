import { dataRead, readRejections, readRequests } from '../scopes.js'
import { errors, json, ref } from './answers.js'
import { inQuery, scoped } from './parameters.js'
import type { Schema } from './record-schema.js'

// What became of what was sent, as the console shows it: requests, the overview, what happens now, a record's journey.

const uuid = { type: 'string', format: 'uuid' }
const instant = { type: 'string', format: 'date-time' }
const instantOrNull = { type: ['string', 'null'], format: 'date-time' }
const text: Schema = { type: 'string' }
const count = (description: string): Schema => ({ type: 'integer', minimum: 0, description })
const list = (items: Schema): Schema => ({ type: 'array', items })
const object = (properties: Schema, optional: string[] = []): Schema => ({
  type: 'object',
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  properties,
})
/** An answer that stays open, as server-sent events. */
const stream = (description: string, example: string): Schema => ({
  description,
  content: { 'text/event-stream': { example } },
})
const failures = errors(400, 401, 403, 405, 429, 431, 500, 503)

export const lookingPaths = (types: string[], uploads: string[]): Record<string, Schema> => ({
  '/v1/requests': {
    get: {
      tags: ['requests'],
      operationId: 'list-requests',
      summary: 'Your requests, newest first',
      description: `For as long as verdicts are kept. Without \`type\` those of uploads; with \`type=interactions\` the batches that interactions were gathered in. A page with a \`status\` may be shorter than \`limit\`; go on until \`next_cursor\` is null. ${scoped(readRequests)}`,
      parameters: [
        inQuery('status', 'only those that are so', { type: 'string', enum: statuses }),
        inQuery('type', 'only those of this type', { type: 'string', enum: types }),
        inQuery('limit', 'how many at most', { type: 'integer', minimum: 1, maximum: 200, default: 50 }),
        inQuery('cursor', 'next_cursor of the page before', { type: 'string' }),
      ],
      responses: {
        200: json(
          'A page.',
          object({
            requests: list(ref('ListedRequest')),
            next_cursor: { type: ['string', 'null'], description: 'null on the last page' },
          }),
        ),
        ...failures,
      },
    },
  },
  '/v1/overview': {
    get: {
      tags: ['requests'],
      operationId: 'read-overview',
      summary: 'Whether everything works, how fresh each type is, what was refused last',
      description: `The last refusals are null where the key lacks \`${readRejections}\`, or while they cannot be read. ${scoped(readRequests)}`,
      responses: { 200: json('How it goes.', ref('Overview')), ...failures },
    },
  },
  '/v1/live': {
    get: {
      tags: ['requests'],
      operationId: 'watch',
      summary: 'What is decided, as it happens',
      description: `Server-sent events, made from verdicts. First \`history\`: the last 15 minutes, a number for each 5 seconds. Then \`rates\` for the 5 seconds that began \`at\`: whenever there is something new, and once when they are over; a later one with the same \`at\` replaces the earlier. A comment every 10 seconds is a sign of life. It ends with \`end\`, when the key has ended or the edge stops. A key may have 4 streams open. ${scoped(readRequests)}`,
      responses: {
        200: stream(
          'The events.',
          'event: rates\ndata: {"at":"2026-01-01T00:00:00.000Z","accepted":500,"refused":2,"waiting":0,"interactions":31}\n\n',
        ),
        ...failures,
      },
    },
  },
  '/v1/topics/{topic}/events': {
    get: {
      tags: ['requests'],
      operationId: 'list-topic-events',
      summary: 'The last events of yours on a topic',
      description: `As subscribers read them, decoded, newest last; from the last 2000 events of the topic at the most. ${scoped(dataRead)}`,
      parameters: [
        topic,
        inQuery('limit', 'how many at most', { type: 'integer', minimum: 1, maximum: 100, default: 20 }),
      ],
      responses: {
        200: json('The events.', object({ events: list(ref('TopicEvent')), next: { type: 'null' } })),
        ...failures,
        ...errors(404, 414),
      },
    },
  },
  '/v1/topics/{topic}/events/live': {
    get: {
      tags: ['requests'],
      operationId: 'watch-topic',
      summary: 'Your events on a topic, as they are published',
      description: `Server-sent events: \`event\`, first the last 20, then new ones (\`TopicEvent\`). Of very many at once only the last are sent, after \`skipped\` with their \`count\`. It ends as \`/v1/live\` does. ${scoped(dataRead)}`,
      parameters: [topic],
      responses: {
        200: stream('The events.', 'event: skipped\ndata: {"count":480}\n\n'),
        ...failures,
        ...errors(404, 414),
      },
    },
  },
  '/v1/data/{type}/{id}/journey': {
    get: {
      tags: ['requests'],
      operationId: 'follow-record',
      summary: "One record's whole way",
      description: `Everything that is known to have happened to one of your records, oldest first: received, waited for others, refused, accepted, published, stored, changed, deleted; what it refers to, and what refers to it. A moment behind, as the tables are. What was received names the API key that it was sent with, by its id; what was published names its offset on the topic, where it is still there and was found in time. ${scoped(dataRead)}`,
      parameters: [
        { name: 'type', in: 'path', required: true, schema: { type: 'string', enum: [...uploads, 'interactions'] } },
        { name: 'id', in: 'path', required: true, schema: uuid },
      ],
      responses: { 200: json('The way.', ref('Journey')), ...failures, ...errors(404, 414) },
    },
  },
})

const topic = { name: 'topic', in: 'path', required: true, schema: { type: 'string' } }

const statuses = ['accepted', 'partial', 'refused', 'pending', 'waiting']
const kinds = [
  'received',
  'waited',
  'accepted',
  'refused',
  'published',
  'stored',
  'changed',
  'deleted',
  'superseded',
  'cancelled',
  'expired',
]

/** The objects in their answers. */
export const lookingSchemas = (types: string[]): Record<string, Schema> => ({
  ListedRequest: object(
    {
      request_id: uuid,
      type: { type: 'string', enum: types },
      submitted_at: { ...instant, description: 'where nothing of it is decided yet' },
      decided_at: { ...instant, description: 'when its first batch was' },
      status: { type: 'string', enum: statuses },
      records: count('in all; while it is pending, of the batches that are decided, where no more is known'),
      accepted: count('accepted'),
      refused: count('refused'),
      waiting: count('waiting for what they refer to'),
    },
    ['submitted_at', 'decided_at'],
  ),
  Overview: object(
    {
      parts: list(object({ name: text, ok: { type: 'boolean' }, words: text })),
      freshness: list(object({ type: { type: 'string', enum: types }, last_accepted_at: instantOrNull })),
      last_refusals: { type: ['array', 'null'], items: ref('Rejection') },
      lag: {
        ...list(object({ type: { type: 'string', enum: types }, seconds: { type: 'number' } })),
        description: 'for operators: how long the oldest batch of each type has been undecided',
      },
    },
    ['lag'],
  ),
  TopicEvent: object({
    partition: { type: 'integer', minimum: 0 },
    offset: { type: 'integer', minimum: 0 },
    at: instant,
    key: { type: ['string', 'null'] },
    value: { type: 'object', description: "as the topic's schema says" },
  }),
  Journey: object({
    type: { type: 'string', enum: types },
    id: uuid,
    steps: list(
      object(
        {
          at: instant,
          kind: { type: 'string', enum: kinds },
          words: text,
          request_id: uuid,
          batch_id: uuid,
          key_id: { ...text, description: 'the API key that it was sent with; its id, not its secret' },
          problems: list(ref('Problem')),
          topic: text,
          partition: { type: 'integer', minimum: 0 },
          offset: { type: 'integer', minimum: 0 },
          version: { type: 'integer', minimum: 0 },
          row: { type: 'object', description: 'as it is in ClickHouse' },
          changes: list(object({ field: text, before: {}, after: {} })),
        },
        ['request_id', 'batch_id', 'key_id', 'problems', 'topic', 'partition', 'offset', 'version', 'row', 'changes'],
      ),
    ),
    refers_to: list(
      object({ field: text, type: { type: 'string', enum: types }, id: uuid, exists: { type: 'boolean' } }),
    ),
    referred_by: list(object({ type: { type: 'string', enum: types }, count: count('of them'), sample: list(uuid) })),
  }),
})
