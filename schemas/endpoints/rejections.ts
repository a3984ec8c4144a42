import { readRejections, writeRejections } from '../derive/scopes.js'
import { problemCodes } from '../problem.js'
import { derivedId } from '../uuid.js'
import { endpoint } from './endpoint.js'
import {
  anything,
  byDefault,
  closed,
  count,
  cursor,
  day,
  flag,
  givenId,
  index,
  instant,
  limitTo,
  list,
  meaning,
  moment,
  named,
  nextCursor,
  nullable,
  object,
  oneOf,
  optional,
  problems,
  recordType,
  text,
  uuid,
} from './values.js'

// An organisation's own refused records, and how good what came in was.

const record = anything('as it was given; where `truncated`, the text of its beginning')

export const rejection = named(
  'Rejection',
  object({
    rejection_id: text('the same each time that it is listed'),
    type: recordType,
    id: givenId,
    index,
    request_id: uuid,
    batch_id: uuid,
    rejected_at: instant,
    record,
    truncated: flag('whether the record was too large to be kept whole; it cannot be retried'),
    problems,
    state: oneOf(['open', 'retried', 'accepted_since', 'overtaken'], {
      description:
        'what has happened since. `retried`: submitted again by a retry, see `retry`. `accepted_since`: a later record of the same id was accepted. `overtaken`: a later record of the same id was refused too, and none accepted. `open`: nothing.',
    }),
    retry: optional(
      object({
        outcome: oneOf(['waiting', 'accepted', 'refused']),
        request_id: nullable(uuid, 'the request that it was submitted in'),
        retried_at: instant,
        answered_at: nullable(instant),
        retry_request_id: nullable(uuid, 'of the retry; null where an operator did it'),
      }),
    ),
  }),
)

const group = named(
  'RejectionGroup',
  object({
    type: recordType,
    code: oneOf(problemCodes),
    field: nullable(text()),
    count: count('records with this problem'),
    first_seen: instant,
    last_seen: instant,
    sample: nullable(
      object({
        rejection_id: text(),
        id: nullable(text()),
        message: nullable(text(), 'for people'),
        record,
        truncated: flag('whether the record is longer than is shown here'),
      }),
      'the newest of them',
    ),
  }),
)

const counted = {
  request_id: uuid,
  status: oneOf(['running', 'done']),
  dry_run: flag(),
  matched: count('rejections that the filter means'),
  submitted: count('of these, how many are submitted again'),
  skipped: object({
    already_retried: count('retried before, or being retried'),
    accepted_since: count('a later record of the same id was accepted'),
    not_kept_whole: count('too large to be kept whole, or of no type that can be submitted'),
    over_limit: count('more than `limit`: ask again for these'),
  }),
}
const retryPlan = named('RetryPlan', object(counted))
const retryOrder = named(
  'RetryOrder',
  object(
    {
      ...counted,
      waiting: count('not decided yet'),
      accepted: count('accepted now'),
      refused: count('refused again, as new rejections'),
      given_up: count('not submitted after all: their ids were accepted meanwhile, or their records are gone'),
      requests: list(
        object({ request_id: uuid, type: recordType, accepted: count('accepted'), refused: count('refused') }),
        'the first hundred requests that they were submitted in',
      ),
    },
    {
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
  ),
)

const qualityDay = named(
  'QualityDay',
  object({
    type: recordType,
    day,
    received: count('accepted, refused, waiting and undecided'),
    accepted: count('each version of a record counts'),
    refused: count('refused'),
    waiting: count('came on that day, and still wait for a record that they refer to'),
    undecided: count('waited, until a newer record of their id came or somebody cancelled it'),
    top_codes: list(
      object({ code: oneOf(problemCodes), count: count('refused records with one') }),
      'the five commonest problems',
    ),
    last_accepted_at: nullable(instant),
  }),
)

const filter = {
  type: optional(meaning(recordType, 'only records of this type')),
  code: optional(oneOf(problemCodes, { description: 'only those with such a problem' })),
  field: optional(
    text('only those with a problem in this field', {
      pattern: '^[^\\x00-\\x1f\\x7f]{1,200}$',
      refusal: 'field must be the name of a field',
    }),
  ),
  since: optional(meaning(moment, 'refused since then')),
  until: optional(meaning(moment, 'refused before then')),
  request_id: optional(
    meaning(
      uuid,
      'only those of this request, or of this batch',
      'request_id must be the request_id or a batch_id of an answer',
    ),
  ),
}

export const listRejections = endpoint('GET', '/v1/rejections', 'list-rejections', 'rejections', {
  summary: 'Your refused records',
  about:
    "Newest first, your own organisation's only, a moment behind, for as long as rejections are kept. What is refused while you page is on the first page of the next walk. A page holds about 4 MiB of records at the most, so it may be shorter than `limit`; go on until `next_cursor` is null.",
  scope: readRejections,
  query: { ...filter, cursor, limit: limitTo(1000, 100) },
  answers: { 200: { about: 'A page.', schema: object({ rejections: list(rejection), next_cursor: nextCursor }) } },
})

export const summariseRejections = endpoint('GET', '/v1/rejections/summary', 'summarise-rejections', 'rejections', {
  summary: 'Your refused records, by what is wrong with them',
  about:
    'Grouped by type, code and field, the largest group first. A record with several problems counts in the group of each.',
  scope: readRejections,
  query: filter,
  answers: {
    200: {
      about: 'The groups.',
      schema: object({
        groups: list(group),
        complete: flag('false where there are more than 500 groups: the others are not shown'),
      }),
    },
  },
})

export const retryRejections = endpoint('POST', '/v1/rejections/retry', 'retry-rejections', 'rejections', {
  summary: 'Submit refused records again',
  about:
    'For records whose reason is gone, such as a shop that came after its offers. Each rejection is submitted once, however many ask for it; what is refused again is a new rejection, which can be retried. Left out is what was retried before, what was accepted since under the same id (it would turn the clock back), and what was too large to be kept whole. The records go through the same checks as any upload, in the background; `Location` tells what becomes of them, and it goes on whatever happens to the server that answered.',
  scope: writeRejections,
  takesKey: true,
  body: {
    schema: closed({
      filter: closed(filter, {
        minProperties: 1,
        nullsLeftOut: true,
        description: 'which rejections are meant: those to which all of this applies; at least one has to be given',
        refusal: '"filter" is missing: say which, as in {"filter": {"code": "unknown_reference"}}',
      }),
      dry_run: byDefault(flag('only say what would be submitted'), false),
      limit: limitTo(10_000, 1000),
    }),
    example: { filter: { type: 'offers', code: 'unknown_reference' }, dry_run: true },
    insteadOfQuery: 'filter, dry_run and limit stand in the body',
  },
  answers: {
    200: { about: 'A dry run: nothing was submitted.', schema: retryPlan },
    202: {
      about: 'Noted, and being submitted.',
      schema: retryOrder,
      headers: { Location: text('where it can be looked up', { format: 'uri-reference' }) },
    },
  },
})

export const lookUpRetry = endpoint('GET', '/v1/rejections/retries/{request_id}', 'look-up-retry', 'rejections', {
  summary: 'What became of a retry',
  scope: readRejections,
  parameters: { request_id: uuid },
  passesOver: true,
  answers: { 200: { about: 'How far it is.', schema: retryOrder } },
})

export const readQuality = endpoint('GET', '/v1/quality', 'read-quality', 'rejections', {
  summary: 'What came in, by type and day',
  about:
    'Received, accepted and refused records of each type and day (UTC), interactions too, the newest day first. A day on which nothing of a type came in is left out. Refused ones count for as long as rejections are kept. A record that waits counts as `waiting` on the day on which it came; once that has ended, as accepted, refused or undecided on the day of that. The same is in ClickHouse, as `weir.quality`.',
  scope: readRejections,
  query: {
    from: optional(meaning(day, 'the first day; by default 29 days before the last')),
    to: optional(meaning(day, 'the last day; by default today. At most 92 days in all')),
  },
  answers: { 200: { about: 'The days.', schema: object({ from: day, to: day, days: list(qualityDay) }) } },
})
