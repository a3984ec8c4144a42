import { readRejections, writeRejections } from '../derive/scopes.js'
import { problemCodes } from '../problem.js'
import { derivedId } from '../uuid.js'
import { answered, endpoint } from './endpoint.js'
import * as v from './values.js'

// An organisation's own refused records, and how good what came in was.

const record = v.anything('as it was given; where `truncated`, the text of its beginning')

export const rejection = v.named('Rejection', {
  rejection_id: v.text('the same each time that it is listed'),
  type: v.recordType,
  id: v.givenId,
  index: v.index,
  request_id: v.uuid,
  batch_id: v.uuid,
  rejected_at: v.instant,
  record,
  truncated: v.flag('whether the record was too large to be kept whole; it cannot be retried'),
  problems: v.problems,
  state: v.oneOf(['open', 'retried', 'accepted_since', 'overtaken'], {
    description:
      'what has happened since. `retried`: submitted again by a retry, see `retry`. `accepted_since`: a later record of the same id was accepted. `overtaken`: a later record of the same id was refused too, or waits, and none was accepted. `open`: nothing.',
  }),
  current_version: v.nullable(
    v.integer(0),
    'the version of the accepted record of the same id, for `if_version` of an upload that mends this one; null where there is none',
  ),
  retry: v.optional(
    v.object({
      outcome: v.oneOf(['waiting', 'accepted', 'refused']),
      request_id: v.nullable(v.uuid, 'the request that it was submitted in'),
      retried_at: v.instant,
      answered_at: v.nullable(v.instant),
      retry_request_id: v.nullable(v.uuid, 'of the retry; null where an operator did it'),
    }),
  ),
})

const group = v.named('RejectionGroup', {
  type: v.recordType,
  code: v.oneOf(problemCodes),
  field: v.nullable(v.text()),
  count: v.count('records with this problem'),
  first_seen: v.instant,
  last_seen: v.instant,
  sample: v.nullable(
    v.object({
      rejection_id: v.text(),
      id: v.nullable(v.text()),
      message: v.nullable(v.text(), 'for people'),
      record,
      truncated: v.flag('whether the record is longer than is shown here'),
    }),
    'the newest of them',
  ),
})

const counted = {
  request_id: v.uuid,
  status: v.oneOf(['running', 'done']),
  dry_run: v.flag(),
  matched: v.count('rejections that the filter means; with a `cursor`, those behind it'),
  submitted: v.count('of these, how many are submitted again'),
  skipped: v.object({
    already_retried: v.count('retried before, or being retried'),
    accepted_since: v.count('a later record of the same id was accepted'),
    not_kept_whole: v.count('too large to be kept whole, or of no type that can be submitted'),
    over_limit: v.count('not looked at by this call: ask for these with `next_cursor`'),
  }),
  next_cursor: v.nullable(v.text(), 'where to go on: `cursor` of the next call; null where all were looked at'),
}
const retryPlan = v.named('RetryPlan', {
  ...counted,
  samples: v.optional(
    v.list(
      v.object({
        rejection_id: v.text(),
        id: v.nullable(v.text()),
        before: v.optional(v.anything('the value that was sent; not there where the field is not')),
        after: v.optional(v.anything('the value that would be submitted')),
        problems: v.meaning(v.problems, 'what would still be wrong with the record by itself'),
      }),
      'the first few of them, where `change` is given',
    ),
  ),
})
const retryOrder = v.named(
  'RetryOrder',
  {
    ...counted,
    waiting: v.count('not decided yet'),
    accepted: v.count('accepted now'),
    refused: v.count('refused again, as new rejections'),
    given_up: v.count('not submitted after all: their ids were accepted meanwhile, or their records are gone'),
    requests: v.list(
      v.object({
        request_id: v.uuid,
        type: v.recordType,
        accepted: v.count('accepted'),
        refused: v.count('refused'),
      }),
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
        next_cursor: null,
        waiting: 0,
        accepted: 2,
        refused: 0,
        given_up: 0,
        requests: [{ request_id: derivedId('example', 'request'), type: 'offers', accepted: 2, refused: 0 }],
      },
    ],
  },
)

const qualityDay = v.named('QualityDay', {
  type: v.recordType,
  day: v.day,
  received: v.count('accepted, refused, waiting and undecided'),
  accepted: v.count('each version of a record counts'),
  refused: v.count('refused'),
  waiting: v.count('came on that day, and still wait for a record that they refer to'),
  undecided: v.count('waited, until a newer record of their id came or somebody cancelled it'),
  top_codes: v.list(
    v.object({ code: v.oneOf(problemCodes), count: v.count('refused records with one') }),
    'the five commonest problems',
  ),
  last_accepted_at: v.nullable(v.instant),
})

const filterField = v.text('only those with a problem in this field', {
  pattern: '^[^\\x00-\\x1f\\x7f]{1,200}$',
  refusal: 'field must be the name of a field',
})

const filter = {
  type: v.optional(v.meaning(v.recordType, 'only records of this type')),
  code: v.optional(v.oneOf(problemCodes, { description: 'only those with such a problem' })),
  field: v.optional(filterField),
  since: v.optional(v.meaning(v.moment, 'refused since then')),
  until: v.optional(v.meaning(v.moment, 'refused before then')),
  request_id: v.optional(
    v.meaning(
      v.uuid,
      'only those of this request, or of this batch',
      'request_id must be the request_id or a batch_id of an answer',
    ),
  ),
}

const stated = {
  ...filter,
  state: v.optional(
    v.oneOf(['open', 'retried', 'resolved', 'accepted_since', 'overtaken'], {
      description:
        'only those in this state, a moment behind. Each is `open`, `retried` or `resolved`, which is `accepted_since` or `overtaken`: nothing is left to do about it',
    }),
  ),
}

export const listRejections = endpoint('GET', '/v1/rejections', 'list-rejections', 'rejections', {
  summary: 'Your refused records',
  about:
    "Newest first, your own organisation's only, a moment behind, for as long as rejections are kept. What is refused while you page is on the first page of the next walk. A page holds about 4 MiB of records at the most, so it may be shorter than `limit`; go on until `next_cursor` is null.",
  scope: readRejections,
  query: { ...stated, cursor: v.cursor, limit: v.limitTo(1000, 100) },
  answers: answered('A page.', v.object({ rejections: v.list(rejection), next_cursor: v.nextCursor })),
})

export const summariseRejections = endpoint('GET', '/v1/rejections/summary', 'summarise-rejections', 'rejections', {
  summary: 'Your refused records, by what is wrong with them',
  about:
    'Grouped by type, code and field, the largest group first. A record with several problems counts in the group of each.',
  scope: readRejections,
  query: stated,
  answers: answered(
    'The groups.',
    v.object({
      groups: v.list(group),
      states: v.object(
        {
          open: v.nullable(v.count(), 'nothing has happened since; null where too many were submitted again to tell'),
          retried: v.nullable(v.count(), 'submitted again'),
          resolved: v.nullable(v.count(), 'accepted since, or overtaken'),
        },
        { description: 'how many records the filter means in each state, whichever was asked for' },
      ),
      complete: v.flag('false where there are more than 500 groups: the others are not shown'),
    }),
  ),
})

export const countRejectedValues = endpoint('GET', '/v1/rejections/values', 'count-rejected-values', 'rejections', {
  summary: 'What stands in a field of your refused records',
  about:
    'The values of a field of one type in records with a problem in that field, the commonest first: to find the one mistake behind a thousand refusals, and to change it in all of them (`change` of a retry).',
  scope: readRejections,
  query: { ...stated, type: v.recordType, field: filterField },
  answers: answered(
    'The values.',
    v.object({
      values: v.list(
        v.object({
          value: v.anything('as it was given; null where the field is not there'),
          count: v.count('records with this value'),
        }),
      ),
      complete: v.flag('false where there are more than 100 values: the others are not shown'),
    }),
  ),
})

export const retryRejections = endpoint('POST', '/v1/rejections/retry', 'retry-rejections', 'rejections', {
  summary: 'Submit refused records again',
  about:
    'For records whose reason is gone, such as a shop that came after its offers. Each rejection is submitted once, however many ask for it; what is refused again is a new rejection, which can be retried. Left out is what was retried before, what was accepted since under the same id (it would turn the clock back), and what was too large to be kept whole. The records go through the same checks as any upload, in the background; `Location` tells what becomes of them, and it goes on whatever happens to the server that answered.',
  scope: writeRejections,
  takesKey: true,
  body: {
    schema: v.closed({
      filter: v.closed(filter, {
        minProperties: 1,
        nullsLeftOut: true,
        description: 'which rejections are meant: those to which all of this applies; at least one has to be given',
        refusal: '"filter" is missing: say which, as in {"filter": {"code": "unknown_reference"}}',
      }),
      dry_run: v.byDefault(v.flag('only say what would be submitted'), false),
      limit: v.limitTo(10_000, 1000),
      cursor: v.optional(v.text('`next_cursor` of the call before: go on behind what that one looked at')),
      change: v.optional(
        v.closed(
          {
            field: v.meaning(filterField, 'the field; not the id'),
            from: v.optional(
              v.anything(
                'only records in which it has this value (null: also where it is not there); left out: whatever it has',
              ),
            ),
            to: v.optional(v.anything('its new value; left out: the field is left out of the record')),
          },
          {
            description: 'one value changed in all of them before they are submitted; needs a `type` in the filter',
            refusal:
              '"change" must say what is changed, as in {"field": "region", "from": "Great Britain", "to": "GB"}',
          },
        ),
      ),
    }),
    example: { filter: { type: 'offers', code: 'unknown_reference' }, dry_run: true },
    insteadOfQuery: 'filter, dry_run, limit, cursor and change stand in the body',
  },
  answers: {
    200: { about: 'A dry run: nothing was submitted.', schema: retryPlan },
    202: {
      about: 'Noted, and being submitted.',
      schema: retryOrder,
      headers: { Location: v.text('where it can be looked up', { format: 'uri-reference' }) },
    },
  },
})

export const lookUpRetry = endpoint('GET', '/v1/rejections/retries/{request_id}', 'look-up-retry', 'rejections', {
  summary: 'What became of a retry',
  scope: readRejections,
  parameters: { request_id: v.uuid },
  passesOver: true,
  answers: answered('How far it is.', retryOrder),
})

export const readQuality = endpoint('GET', '/v1/quality', 'read-quality', 'rejections', {
  summary: 'What came in, by type and day',
  about:
    'Received, accepted and refused records of each type and day (UTC), interactions too, the newest day first. A day on which nothing of a type came in is left out. Refused ones count for as long as rejections are kept. A record that waits counts as `waiting` on the day on which it came; once that has ended, as accepted, refused or undecided on the day of that. The same is in ClickHouse, as `weir.quality`.',
  scope: readRejections,
  query: {
    from: v.optional(v.meaning(v.day, 'the first day; by default 29 days before the last')),
    to: v.optional(v.meaning(v.day, 'the last day; by default today. At most 92 days in all')),
  },
  answers: answered('The days.', v.object({ from: v.day, to: v.day, days: v.list(qualityDay) })),
})
