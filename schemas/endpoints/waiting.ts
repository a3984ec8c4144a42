import { readWaiting, writeWaiting } from '../derive/scopes.js'
import { endpoint } from './endpoint.js'
import {
  byDefault,
  closed,
  count,
  cursor,
  flag,
  index,
  instant,
  limitTo,
  list,
  meaning,
  named,
  nextCursor,
  nullable,
  object,
  oneOf,
  optional,
  recordType,
  reference,
  text,
  uploadType,
  uuid,
} from './values.js'

// Records that wait for what they refer to.

/** The two parameters by which a request lets its records wait. */
export const waitQuery = {
  missing_references: byDefault(
    oneOf(['refuse', 'wait'], {
      description:
        '`wait`: a record that refers to something that is not there yet waits for it, and is accepted by itself once it is. `refuse`: it is refused at once.',
      refusal: 'missing_references must be wait or refuse',
    }),
    'refuse',
  ),
  wait_for: optional(
    text(
      'How long, with `missing_references=wait`: seconds, minutes, hours or days, from `1m` to `7d`. A record whose time is up is refused with `unknown_reference`.',
      { pattern: '^[0-9]{1,6}[smhd]$', default: '24h', examples: ['90s', '30m', '24h', '7d'] },
    ),
  ),
}

const missingRecord = named(
  'AwaitedRecord',
  object({
    type: uploadType,
    id: uuid,
    waiting: count('how many records wait for it'),
    oldest: meaning(instant, 'since when the first of them'),
    first_until: meaning(instant, 'until when the first of them'),
    sample: list(
      object({
        type: recordType,
        id: uuid,
        field: nullable(text(), 'the field that refers to the missing record'),
        request_id: uuid,
        index,
        until: instant,
      }),
      'some of them',
    ),
  }),
)

const waitingRecord = named(
  'WaitingRecord',
  object({
    type: recordType,
    id: uuid,
    request_id: uuid,
    batch_id: uuid,
    index,
    for: list(reference, 'what is missing'),
    since: instant,
    until: instant,
  }),
)

const filter = {
  type: optional(meaning(recordType, 'only records of this type')),
  id: optional(meaning(uuid, 'only the record with this id', 'id must be the id of a record')),
  missing_type: optional(meaning(uploadType, 'with `missing_id`: only those that wait for this record')),
  missing_id: optional(
    meaning(uuid, 'with `missing_type`: only those that wait for this record', 'missing_id must be the id of a record'),
  ),
}

export const listMissing = endpoint('GET', '/v1/waiting', 'list-missing', 'waiting', {
  summary: 'What your records wait for',
  about:
    'Each record that is missing, with how many of yours wait for it, the one that is waited for the longest first. Upload it, and they are accepted by themselves.',
  scope: readWaiting,
  query: {
    type: optional(meaning(uploadType, 'only missing records of this type')),
    cursor,
    limit: limitTo(1000, 100),
  },
  answers: {
    200: {
      about: 'A page.',
      schema: object({
        missing: list(missingRecord),
        waiting: count('how many of your records wait in all; one that waits for two is one'),
        next_cursor: nextCursor,
      }),
    },
  },
})

export const listWaiting = endpoint('GET', '/v1/waiting/records', 'list-waiting', 'waiting', {
  summary: 'Your records that wait',
  about:
    'One by one, the oldest first. What became of one that no longer waits is told by `GET /v1/requests/{request_id}`.',
  scope: readWaiting,
  query: { ...filter, cursor, limit: limitTo(1000, 100) },
  answers: {
    200: { about: 'A page.', schema: object({ records: list(waitingRecord), next_cursor: nextCursor }) },
  },
})

export const cancelWaiting = endpoint('POST', '/v1/waiting/cancel', 'cancel-waiting', 'waiting', {
  summary: 'Have records wait no longer',
  about:
    'They are neither accepted nor refused then: as if they had never been sent. Which ones is said by `type` and `id`, or by what they wait for. One that is decided at this very moment is decided.',
  scope: writeWaiting,
  body: {
    schema: closed(filter, { anyOf: [{ required: ['type', 'id'] }, { required: ['missing_type', 'missing_id'] }] }),
    example: { missing_type: 'shops', missing_id: '3f2b8c1e-9d4a-4e7f-8a1b-2c3d4e5f6a7b' },
    insteadOfQuery: 'which records are meant stands in the body',
  },
  answers: {
    200: {
      about: 'They wait no longer.',
      schema: object({
        cancelled: count('how many waited until now'),
        complete: flag('false where there are more: the same request again goes on'),
      }),
    },
  },
})
