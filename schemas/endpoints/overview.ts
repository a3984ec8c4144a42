import { readRejections, readRequests } from '../derive/scopes.js'
import { endpoint, textOf } from './endpoint.js'
import { rejection } from './rejections.js'
import {
  count,
  flag,
  instant,
  integer,
  list,
  meaning,
  named,
  nullable,
  number,
  object,
  optional,
  recordType,
  text,
} from './values.js'

// How it goes: at this moment, and as it happens.

const overview = named(
  'Overview',
  object({
    parts: list(object({ name: text(), ok: flag(), words: text() })),
    freshness: list(object({ type: recordType, last_accepted_at: nullable(instant) })),
    last_refusals: nullable(list(rejection)),
    lag: optional(
      list(
        object({ type: recordType, seconds: number }),
        'for operators: how long the oldest batch of each type has been undecided',
      ),
    ),
  }),
)

export const readOverview = endpoint('GET', '/v1/overview', 'read-overview', 'requests', {
  summary: 'Whether everything works, how fresh each type is, what was refused last',
  about: `The last refusals are null where the key lacks \`${readRejections}\`, or while they cannot be read.`,
  scope: readRequests,
  answers: { 200: { about: 'How it goes.', schema: overview } },
})

const numbers = list(count())
export const liveHistory = named(
  'LiveHistory',
  object({
    bucket_seconds: integer(1, 'how long the time is that each number is about'),
    from: meaning(instant, 'when the first of these times began'),
    accepted: numbers,
    refused: numbers,
    waiting: numbers,
    interactions: numbers,
  }),
)
export const liveRates = named(
  'LiveRates',
  object({
    at: meaning(instant, 'when the time began that the numbers are about'),
    accepted: count(),
    refused: count(),
    waiting: count(),
    interactions: count(),
  }),
)

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
