import { readRejections, readRequests } from '../derive/scopes.js'
import { answered, endpoint, textOf } from './endpoint.js'
import { rejection } from './rejections.js'
import * as v from './values.js'

// How it goes: at this moment, and as it happens.

/** To count more would take long, and is asked for every few seconds. */
export const mostCounted = 100_000

const overview = v.named('Overview', {
  parts: v.list(v.object({ name: v.text(), ok: v.flag(), words: v.text() })),
  freshness: v.list(v.object({ type: v.recordType, last_accepted_at: v.nullable(v.instant) })),
  last_refusals: v.nullable(v.list(rejection)),
  waiting: v.count(`records that wait at this moment; ${mostCounted} where there are that many or more`),
  lag: v.optional(
    v.list(
      v.object({ type: v.recordType, seconds: v.number }),
      'for operators: how long the oldest batch of each type has been undecided',
    ),
  ),
})

export const readOverview = endpoint('GET', '/v1/overview', 'read-overview', 'requests', {
  summary: 'Whether everything works, how fresh each type is, what was refused last',
  about: `The last refusals are null where the key lacks \`${readRejections}\`, or while they cannot be read.`,
  scope: readRequests,
  answers: answered('How it goes.', overview),
})

const numbers = v.list(v.count())
export const liveHistory = v.named('LiveHistory', {
  bucket_seconds: v.integer(1, 'how long the time is that each number is about'),
  from: v.meaning(v.instant, 'when the first of these times began'),
  accepted: numbers,
  refused: numbers,
  waiting: numbers,
  interactions: numbers,
})
export const liveRates = v.named('LiveRates', {
  at: v.meaning(v.instant, 'when the time began that the numbers are about'),
  accepted: v.count(),
  refused: v.count(),
  waiting: v.count(),
  interactions: v.count(),
})

export const activitySpans = ['1h', '6h', '24h', '7d', '30d', '90d'] as const

export const readActivity = endpoint('GET', '/v1/activity', 'read-activity', 'requests', {
  summary: 'What was decided in a time until now',
  about:
    'A number for each of 144 to 180 stretches of the time. Up to 24 hours from verdicts, up to the second; beyond that from the tables, some seconds behind, and for as long as these are kept. `waiting` are the records that began to wait. The last 15 minutes: `/v1/live`.',
  scope: readRequests,
  query: { span: v.oneOf(activitySpans, { description: 'how long the time is' }) },
  answers: answered('The numbers.', liveHistory),
})

export const watch = endpoint('GET', '/v1/live', 'watch', 'requests', {
  summary: 'What is decided, as it happens',
  about:
    'Server-sent events, made from verdicts. First `history`: the last 15 minutes, a number for each 5 seconds. Then `rates` for the 5 seconds that began `at`: whenever there is something new, and once when they are over; a later one with the same `at` replaces the earlier. A comment every 10 seconds is a sign of life. It ends with `end`, when the key has ended or the edge stops. A key may have 4 streams open.',
  scope: readRequests,
  answers: {
    200: {
      about: 'The events.',
      content: textOf(
        'text/event-stream',
        { anyOf: [liveHistory, liveRates] },
        'event: rates\ndata: {"at":"2026-01-01T00:00:00.000Z","accepted":500,"refused":2,"waiting":0,"interactions":31}\n\n',
      ),
    },
  },
})
