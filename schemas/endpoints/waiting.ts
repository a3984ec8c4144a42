import { readWaiting, writeWaiting } from '../derive/scopes.js'
import { answered, endpoint } from './endpoint.js'
import * as v from './values.js'

// Records that wait for what they refer to.

/** The two parameters by which a request lets its records wait. */
export const waitQuery = {
  missing_references: v.byDefault(
    v.oneOf(['refuse', 'wait'], {
      description:
        '`wait`: a record that refers to something that is not there yet waits for it, and is accepted by itself once it is. `refuse`: it is refused at once.',
      refusal: 'missing_references must be wait or refuse',
    }),
    'refuse',
  ),
  wait_for: v.optional(
    v.text(
      'How long, with `missing_references=wait`: seconds, minutes, hours or days, from `1m` to `7d`. A record whose time is up is refused with `unknown_reference`.',
      { pattern: '^[0-9]{1,6}[smhd]$', default: '24h', examples: ['90s', '30m', '24h', '7d'] },
    ),
  ),
}

const missingRecord = v.named('AwaitedRecord', {
  type: v.uploadType,
  id: v.uuid,
  waiting: v.count('how many records wait for it'),
  oldest: v.meaning(v.instant, 'since when the first of them'),
  first_until: v.meaning(v.instant, 'until when the first of them'),
  sample: v.list(
    v.object({
      type: v.recordType,
      id: v.uuid,
      field: v.nullable(v.text(), 'the field that refers to the missing record'),
      request_id: v.uuid,
      index: v.index,
      until: v.instant,
    }),
    'some of them',
  ),
})

const waitingRecord = v.named('WaitingRecord', {
  type: v.recordType,
  id: v.uuid,
  request_id: v.uuid,
  batch_id: v.uuid,
  index: v.index,
  for: v.list(v.reference, 'what is missing'),
  since: v.instant,
  until: v.instant,
})

const filter = {
  type: v.optional(v.meaning(v.recordType, 'only records of this type')),
  id: v.optional(v.meaning(v.uuid, 'only the record with this id', 'id must be the id of a record')),
  missing_type: v.optional(v.meaning(v.uploadType, 'with `missing_id`: only those that wait for this record')),
  missing_id: v.optional(
    v.meaning(
      v.uuid,
      'with `missing_type`: only those that wait for this record',
      'missing_id must be the id of a record',
    ),
  ),
}

export const listMissing = endpoint('GET', '/v1/waiting', 'list-missing', 'waiting', {
  summary: 'What your records wait for',
  about:
    'Each record that is missing, with how many of yours wait for it, the one that is waited for the longest first. Upload it, and they are accepted by themselves.',
  scope: readWaiting,
  query: {
    type: v.optional(v.meaning(v.uploadType, 'only missing records of this type')),
    cursor: v.cursor,
    limit: v.limitTo(1000, 100),
  },
  answers: answered(
    'A page.',
    v.object({
      missing: v.list(missingRecord),
      waiting: v.count('how many of your records wait in all; one that waits for two is one'),
      next_cursor: v.nextCursor,
    }),
  ),
})

export const listWaiting = endpoint('GET', '/v1/waiting/records', 'list-waiting', 'waiting', {
  summary: 'Your records that wait',
  about:
    'One by one, the oldest first. What became of one that no longer waits is shown by `GET /v1/requests/{request_id}`.',
  scope: readWaiting,
  query: { ...filter, cursor: v.cursor, limit: v.limitTo(1000, 100) },
  answers: answered('A page.', v.object({ records: v.list(waitingRecord), next_cursor: v.nextCursor })),
})

export const cancelWaiting = endpoint('POST', '/v1/waiting/cancel', 'cancel-waiting', 'waiting', {
  summary: 'Have records wait no longer',
  about:
    'They are neither accepted nor refused then: as if they had never been sent. Which ones is said by `type` and `id`, or by what they wait for. One that is decided at this very moment is decided.',
  scope: writeWaiting,
  body: {
    schema: v.closed(filter, { anyOf: [{ required: ['type', 'id'] }, { required: ['missing_type', 'missing_id'] }] }),
    example: { missing_type: 'shops', missing_id: '3f2b8c1e-9d4a-4e7f-8a1b-2c3d4e5f6a7b' },
    insteadOfQuery: 'which records are meant stands in the body',
  },
  answers: answered(
    'They wait no longer.',
    v.object({
      cancelled: v.count('how many waited until now'),
      left: v.count('how many of those that are meant still wait: more than one request cancels, or being decided'),
      complete: v.flag('false where some are left: the same request again goes on'),
    }),
  ),
})
