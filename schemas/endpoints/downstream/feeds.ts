import { dataRead } from '../../derive/scopes.js'
import { endpoint, textOf } from '../endpoint.js'
import { errorAnswer, errorFields } from '../errors.js'
import * as v from '../values.js'

// Accepted records over HTTP, as subscribers of the topics get them.

export const feedEvent = v.named('FeedEvent', {
  type: v.recordType,
  id: v.uuid,
  version: v.integer(0, 'of two events of one record, the higher is the later; one that comes again has the same'),
  accepted_at: v.instant,
  is_deleted: v.flag('whether this version deleted the record'),
  record: v.anyObject('every field of the type, null where the record has none; times are in UTC'),
})

const feedPage = v.named('FeedPage', {
  events: v.list(feedEvent, 'empty where there is nothing more at this moment'),
  next: v.text('what to give as `after` next; also in the header `Weir-Next-Cursor`'),
})

const mostEvents = 5000

const question = {
  after: v.byDefault(
    v.text(
      '`beginning`: every record as it is now, then each change. `now`: what comes from now on. A time: what was accepted since then; of what the log no longer holds, every record that changed since then, as it is now. Or the `next` of an answer',
      {
        maxLength: 8000,
        refusal: 'after must be beginning, now, a time like 2026-01-31T12:00:00Z, or the next of an answer',
      },
    ),
    'beginning',
  ),
  limit: v.limitTo(mostEvents, 500),
  wait: v.byDefault(
    v.text('how long to wait where there is nothing yet, from `0s` to `50s`', {
      pattern: '^([0-9]|[1-4][0-9]|50)s$',
      refusal: 'wait must be a number of seconds from 0s to 50s',
    }),
    '0s',
  ),
}

const example = JSON.stringify({
  type: 'shops',
  id: '3f2b8c1e-9d4a-4e7f-8a1b-2c3d4e5f6a7b',
  version: 40_960,
  accepted_at: '2026-01-31T12:00:00.000Z',
  is_deleted: false,
  record: { shop_id: '3f2b8c1e-9d4a-4e7f-8a1b-2c3d4e5f6a7b', name: 'Corner Books', region: 'GB' },
})

const noLongerKept = errorAnswer(410, 'What comes next is no longer kept.', {
  message:
    'what comes after this cursor is no longer kept; go on with after=2026-01-31T11:59:00.000Z, and every record that changed since then comes as it is now',
})

const answers = {
  200: {
    about: 'What comes next.',
    schema: feedPage,
    headers: { 'Weir-Next-Cursor': v.text('the same as `next`; in every form of the answer but a stream') },
    content: {
      'application/json': { schema: feedPage },
      ...textOf(
        'application/x-ndjson',
        { anyOf: [feedEvent, v.object({ next: v.text() })] },
        `${example}\n{"next":"WzEs…"}\n`,
        'An event on each line; the last line has `next`.',
      ),
      ...textOf(
        'text/event-stream',
        feedEvent,
        `id: WzEs…\ndata: ${example}\n\n`,
        'A stream without an end. `id` is where to go on: as `Last-Event-ID`, or as `after`.',
      ),
      'application/avro': {
        schema: v.text(
          "An Avro object container of accepted events, with the public schema of the type's topic; of one type.",
        ),
      },
    },
  },
  410: {
    ...noLongerKept,
    schema: v.object({
      ...errorFields,
      restart: v.text(
        'what to give as `after` to go on: every record that changed since then comes as it is now, then each change',
      ),
    }),
    example: { ...noLongerKept.example, restart: '2026-01-31T11:59:00.000Z' },
  },
} as const

const about =
  'What was accepted for your organisation, as it is on the topics: in order by record, each at least once; of two with one `version` one is a repetition. The cursor belongs to your organisation and outlives everything but the log (30 days; of interactions one, after which they come from the tables). `Accept` chooses the form.'

export const readFeed = endpoint('GET', '/v1/feeds/{type}', 'read-feed', 'feeds', {
  summary: 'Changes of one type, one after another',
  about,
  scope: dataRead,
  parameters: { type: v.recordType },
  query: question,
  answers,
})

export const readFeeds = endpoint('GET', '/v1/feeds', 'read-feeds', 'feeds', {
  summary: 'Changes of several types together',
  about: `${about} Records that others refer to come before them at the beginning; between types there is no other order.`,
  scope: dataRead,
  query: {
    types: v.text('such as `shops,offers`, or `all`', {
      refusal: 'types must name types, such as shops,offers, or all',
    }),
    ...question,
  },
  answers,
})
