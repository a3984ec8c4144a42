import { dataRead, readRequests } from '../derive/scopes.js'
import { endpoint } from './endpoint.js'
import { uploadAnswer } from './uploads.js'
import {
  anyObject,
  anything,
  count,
  cursor,
  flag,
  instant,
  limitTo,
  list,
  meaning,
  named,
  nextCursor,
  object,
  oneOf,
  optional,
  problems,
  recordType,
  text,
  uuid,
} from './values.js'

// What became of a request, and of a record.

export const requestStatuses = ['accepted', 'partial', 'refused', 'pending', 'waiting'] as const

export const lookUpRequest = endpoint('GET', '/v1/requests/{request_id}', 'look-up-request', 'requests', {
  summary: 'What became of a request',
  about:
    "The same answer as the upload's, at any time after; of an interaction, its verdict in the same form, by the `X-Request-Id` of its answer; of one that was sent again with its `Idempotency-Key`, the verdict that accepted it, or else the last. Records that waited are told as they stand now: `waiting` has those that still wait, `waited` what came of the others. Batches that are not decided yet are `pending`; one that may never have been submitted is a 500, and retrying it is safe.",
  scope: readRequests,
  parameters: { request_id: uuid },
  passesOver: true,
  answers: { 200: { about: 'The outcome so far.', schema: uploadAnswer } },
})

const listedRequest = named(
  'ListedRequest',
  object({
    request_id: uuid,
    type: recordType,
    submitted_at: optional(meaning(instant, 'where nothing of it is decided yet')),
    decided_at: optional(meaning(instant, 'when its first batch was')),
    status: oneOf(requestStatuses),
    records: count('in all; while it is pending, of the batches that are decided, where no more is known'),
    accepted: count('accepted'),
    refused: count('refused'),
    waiting: count('waiting for what they refer to'),
  }),
)

export const listRequests = endpoint('GET', '/v1/requests', 'list-requests', 'requests', {
  summary: 'Your requests, newest first',
  about:
    'For as long as verdicts are kept. Without `type` those of uploads; with `type=interactions` the batches that interactions were gathered in. A page with a `status` may be shorter than `limit`; go on until `next_cursor` is null.',
  scope: readRequests,
  query: {
    status: optional(oneOf(requestStatuses, { description: 'only those that are so' })),
    type: optional(meaning(recordType, 'only those of this type')),
    limit: limitTo(200, 50),
    cursor,
  },
  answers: { 200: { about: 'A page.', schema: object({ requests: list(listedRequest), next_cursor: nextCursor }) } },
})

const steps = [
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
] as const

const journeyStep = named(
  'JourneyStep',
  object({
    at: instant,
    kind: oneOf(steps),
    words: text(),
    request_id: optional(uuid),
    batch_id: optional(uuid),
    key_id: optional(text('the API key that it was sent with; its id, not its secret')),
    problems: optional(problems),
    topic: optional(text()),
    partition: optional(count()),
    offset: optional(count()),
    version: optional(count()),
    row: optional(anyObject('as it is in ClickHouse')),
    changes: optional(list(object({ field: text(), before: anything(), after: anything() }))),
  }),
)

const journey = named(
  'Journey',
  object({
    type: recordType,
    id: uuid,
    steps: list(journeyStep),
    refers_to: list(object({ field: text(), type: recordType, id: uuid, exists: flag() })),
    referred_by: list(object({ type: recordType, count: count('of them'), sample: list(uuid) })),
  }),
)

export const followRecord = endpoint('GET', '/v1/data/{type}/{id}/journey', 'follow-record', 'requests', {
  summary: "One record's whole way",
  about:
    'Everything that is known to have happened to one of your records, oldest first: received, waited for others, refused, accepted, published, stored, changed, deleted; what it refers to, and what refers to it. A moment behind, as the tables are. What was received names the API key that it was sent with, by its id; what was published names its offset on the topic, where it is still there and was found in time.',
  scope: dataRead,
  parameters: { type: recordType, id: uuid },
  answers: { 200: { about: 'The way.', schema: journey } },
})
