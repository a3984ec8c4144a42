import { readKeys, writeKeys } from '../../derive/scopes.js'
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
  query: {
    prefix: v.optional(
      v.text('only those whose id begins so', {
        pattern: orgPattern,
        refusal: 'prefix must be the beginning of the id of an organisation',
      }),
    ),
    ...wholeList,
  },
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
