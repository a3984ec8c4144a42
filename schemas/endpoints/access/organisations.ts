import { readKeys, readRequests, writeKeys } from '../../derive/scopes.js'
import { answered, endpoint } from '../endpoint.js'
import * as v from '../values.js'
import { orgPattern, wholeList } from './keys.js'

// Organisations, for operators.

// What a Postgres integer holds.
const most = { maximum: 2_147_483_647 }
const limit = v.nullable(v.integer(0, undefined, most), 'null: the default; 0: no limit')
const limits = { requests_per_second: limit, records_per_second: limit }
const givenLimit = (name: string) => {
  const refusal = `${name} must be a whole number, 0 for no limit, or null for the default`
  return v.optional(v.meaning(limit, 'null: the default; 0: no limit', refusal))
}

const prefix = v.optional(
  v.text('only those whose id begins so', {
    pattern: orgPattern,
    refusal: 'prefix must be the beginning of the id of an organisation',
  }),
)

const organisation = v.named('OrganisationListed', {
  org: v.text(),
  created_at: v.instant,
  active_keys: v.count(),
  ...limits,
})

export const listOrganisations = endpoint('GET', '/v1/operator/organisations', 'list-organisations', 'operators', {
  summary: 'Every organisation, by its id',
  scope: readKeys,
  isForOperators: true,
  query: { prefix, ...wholeList },
  answers: answered('A page.', v.object({ organisations: v.list(organisation), next_cursor: v.nextCursor })),
})

export const limitOrganisation = endpoint(
  'PUT',
  '/v1/operator/organisations/{org}/limits',
  'limit-organisation',
  'operators',
  {
    summary: 'Set how much each key of an organisation may send',
    scope: writeKeys,
    isForOperators: true,
    parameters: { org: v.text() },
    body: {
      isOptional: true,
      schema: v.closed({
        requests_per_second: givenLimit('requests_per_second'),
        records_per_second: givenLimit('records_per_second'),
      }),
      example: { requests_per_second: 50, records_per_second: null },
    },
    answers: answered('Set how much each key of an organisation may send', v.object({ org: v.text(), ...limits })),
  },
)

const sums = { accepted: v.count(), refused: v.count(), waiting: v.count('records that wait now') }

export const rankOrganisations = endpoint('GET', '/v1/operator/figures', 'rank-organisations', 'operators', {
  summary: 'What each organisation sent, the most first',
  about:
    'Accepted, refused and waiting records are counted as they lie in the tables: a moment behind, and a row that was written twice, after a crash, may count twice for a while. `limited` are requests answered 429 by all edges, by whole hours.',
  scope: readRequests,
  isForOperators: true,
  query: {
    hours: v.byDefault(v.integer(1, 'how many hours back', { maximum: 2160 }), 24),
    prefix,
    limit: v.limitTo(200, 50),
    cursor: v.cursor,
  },
  answers: answered(
    'A page.',
    v.object({
      since: v.meaning(v.instant, 'from when on what was sent is counted'),
      all: v.object({ organisations: v.count(), ...sums }),
      organisations: v.list(
        v.named('OrganisationFigures', {
          org: v.text(),
          created_at: v.instant,
          active_keys: v.count(),
          ...limits,
          ...sums,
          oldest_wait: v.nullable(v.instant, 'since when the oldest of its records waits'),
          limited: v.count('requests answered 429'),
          lag_seconds: v.meaning(v.number, 'how long its oldest batch has been undecided'),
        }),
      ),
      next_cursor: v.nextCursor,
    }),
  ),
})

const size = (about: string) => v.nullable(v.integer(0), about)

export const readSystem = endpoint('GET', '/v1/operator/system', 'read-system', 'operators', {
  summary: 'The parts of the system: whether they work, their disks, and who reads the topics',
  scope: readRequests,
  isForOperators: true,
  answers: answered(
    'The parts of the system.',
    v.object({
      parts: v.list(v.object({ name: v.text(), ok: v.flag(), problem: v.nullable(v.text()) })),
      storage: v.list(
        v.object({
          part: v.text(),
          used_bytes: size('of Weir; null where it cannot be known'),
          free_bytes: size('on its disks; null where it cannot be known'),
          problem: v.nullable(v.text(), 'why something is not known'),
        }),
      ),
      groups: v.nullable(
        v.list(
          v.named('GroupState', {
            group: v.text(),
            state: v.text('as Kafka says: Stable, Empty, …'),
            members: v.count(),
            lag: v.count('messages that it has not read yet'),
            topics: v.list(v.object({ topic: v.text(), lag: v.count() })),
          }),
        ),
        "consumer groups that read Weir's topics, as far as Kafka shows them to the edge; null where it does not answer",
      ),
    }),
  ),
})
