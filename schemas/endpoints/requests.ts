import { dataRead, readRequests } from '../derive/scopes.js'
import { answered, endpoint } from './endpoint.js'
import { uploadAnswer } from './uploads.js'
import * as v from './values.js'

// What became of a request, and of a record.

export const requestStatuses = ['accepted', 'partial', 'refused', 'pending', 'waiting'] as const

export const lookUpRequest = endpoint('GET', '/v1/requests/{request_id}', 'look-up-request', 'requests', {
  summary: 'What became of a request',
  about:
    "The same answer as the upload's, at any time after; of an interaction, its verdict in the same form, by the `X-Request-Id` of its answer; of one that was sent again with its `Idempotency-Key`, the verdict that accepted it, or else the last. Records that waited are shown as they stand now: `waiting` has those that still wait, `waited` what came of the others. Batches that are not decided yet are `pending`; one that may never have been submitted is a 500, and retrying it is safe.",
  scope: readRequests,
  parameters: { request_id: v.uuid },
  passesOver: true,
  answers: answered('The outcome so far.', uploadAnswer),
})

const listedRequest = v.named('ListedRequest', {
  request_id: v.uuid,
  type: v.recordType,
  submitted_at: v.optional(v.meaning(v.instant, 'where nothing of it is decided yet')),
  decided_at: v.optional(v.meaning(v.instant, 'when its first batch was')),
  status: v.oneOf(requestStatuses),
  records: v.count('in all; while it is pending, of the batches that are decided, where no more is known'),
  accepted: v.count('accepted'),
  refused: v.count('refused'),
  waiting: v.count('waiting for what they refer to'),
})

export const listRequests = endpoint('GET', '/v1/requests', 'list-requests', 'requests', {
  summary: 'Your requests, newest first',
  about:
    'For as long as verdicts are kept. Without `type` those of uploads; with `type=interactions` those of interactions, and the batches that single ones were gathered in. A page with a `status` may be shorter than `limit`; go on until `next_cursor` is null.',
  scope: readRequests,
  query: {
    status: v.optional(v.oneOf(requestStatuses, { description: 'only those that are so' })),
    type: v.optional(v.meaning(v.recordType, 'only those of this type')),
    limit: v.limitTo(200, 50),
    cursor: v.cursor,
  },
  answers: answered('A page.', v.object({ requests: v.list(listedRequest), next_cursor: v.nextCursor })),
})

const found = v.named('Found', {
  kind: v.oneOf(['record', 'request', 'batch', 'key']),
  id: v.text(),
  type: v.optional(v.meaning(v.recordType, 'of a record, and of the records in a request or a batch')),
  request_id: v.optional(v.meaning(v.uuid, 'of a batch: the request that it came in')),
  org: v.optional(v.text('of a key: its organisation')),
})

export const findId = endpoint('GET', '/v1/find', 'find-id', 'requests', {
  summary: 'What has this id',
  about:
    'Records of any type, accepted, refused or waiting, where the key has `data:read`; requests; batches; keys, to those who may see them: operators those of all organisations, keys with `keys:manage` those of their own. `complete` is false where some of it could not be looked through: then what was not found may still be there.',
  scope: readRequests,
  query: {
    id: v.text('of whatever it is', { minLength: 1, maxLength: 200, refusal: 'id must be the id that is looked for' }),
  },
  answers: answered('What was found.', v.object({ found: v.list(found), complete: v.flag() })),
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

const journeyStep = v.named('JourneyStep', {
  at: v.instant,
  kind: v.oneOf(steps),
  words: v.text(),
  request_id: v.optional(v.uuid),
  batch_id: v.optional(v.uuid),
  key_id: v.optional(v.text('the API key that it was sent with; its id, not its secret')),
  problems: v.optional(v.problems),
  topic: v.optional(v.text()),
  partition: v.optional(v.count()),
  offset: v.optional(v.count()),
  version: v.optional(v.count()),
  row: v.optional(v.anyObject('as it is in ClickHouse')),
  changes: v.optional(v.list(v.object({ field: v.text(), before: v.anything(), after: v.anything() }))),
})

const journey = v.named('Journey', {
  type: v.recordType,
  id: v.uuid,
  steps: v.list(journeyStep),
  refers_to: v.list(v.object({ field: v.text(), type: v.recordType, id: v.uuid, exists: v.flag() })),
  referred_by: v.list(v.object({ type: v.recordType, count: v.count('of them'), sample: v.list(v.uuid) })),
})

export const followRecord = endpoint('GET', '/v1/data/{type}/{id}/journey', 'follow-record', 'requests', {
  summary: "One record's whole way",
  about:
    'Everything that is known to have happened to one of your records, oldest first: received, waited for others, refused, accepted, published, stored, changed, deleted; what it refers to, and what refers to it. A moment behind, as the tables are. What was received names the API key that it was sent with, by its id; what was published names its offset on the topic, where it is still there and was found in time.',
  scope: dataRead,
  parameters: { type: v.recordType, id: v.uuid },
  answers: answered('The way.', journey),
})
