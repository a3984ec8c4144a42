import { readKeys, writeKeys } from '../derive/scopes.js'
import { answered, endpoint } from './endpoint.js'
import { errorAnswer } from './errors.js'
import * as v from './values.js'

// Organisations and keys, for operators.

// What a Postgres integer holds.
const most = { maximum: 2_147_483_647 }
const limit = v.nullable(v.integer(0, undefined, most), 'null: the default; 0: no limit')
const limits = { requests_per_second: limit, records_per_second: limit }
const givenLimit = (name: string) => {
  const refusal = `${name} must be a whole number, 0 for no limit, or null for the default`
  return v.optional(v.meaning(limit, 'null: the default; 0: no limit', refusal))
}
const seconds = (name: string, least: number) => {
  const refusal = `${name} must be a whole number of seconds from ${least} on`
  return v.optional(v.nullable(v.integer(least, undefined, { ...most, refusal })))
}
const scopes = v.nullable(v.list(v.text()), 'null: all of them')
const orgPattern = '^[a-z0-9][a-z0-9-]{0,62}$'

const organisation = v.named('OrganisationListed', {
  org: v.text(),
  created_at: v.instant,
  active_keys: v.count(),
  ...limits,
})
const key = v.named('KeyListed', {
  key_id: v.text(),
  org: v.text(),
  scopes,
  is_operator: v.flag(),
  state: v.oneOf(['active', 'expired', 'revoked']),
  created_at: v.instant,
  expires_at: v.nullable(v.instant),
  revoked_at: v.nullable(v.instant),
  last_used_at: v.nullable(v.instant),
})
const keyMade = v.named('KeyMade', {
  key_id: v.text(),
  key: v.text('the text of the key; only its hash is kept'),
  org: v.text(),
  scopes,
  expires_at: v.nullable(v.instant),
  replaces: v.optional(v.object({ key_id: v.text(), expires_at: v.instant })),
})

// Before there were pages, an answer held all there are: a client that knows of no pages still gets that, up to this many.
const page = { limit: v.limitTo(1000, 1000), cursor: v.cursor }

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
    ...page,
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

export const listKeys = endpoint('GET', '/v1/operator/keys', 'list-keys', 'operators', {
  summary: 'Every key, without its secret',
  scope: readKeys,
  isForOperators: true,
  query: {
    org: v.optional(
      v.text('only those of this organisation', {
        pattern: orgPattern,
        refusal: 'org must be the id of an organisation',
      }),
    ),
    ...page,
  },
  answers: answered('A page.', v.object({ keys: v.list(key), next_cursor: v.nextCursor })),
})

export const issueKey = endpoint('POST', '/v1/operator/keys', 'issue-key', 'operators', {
  summary: 'Make a key; its text is shown this once',
  scope: writeKeys,
  isForOperators: true,
  body: {
    isOptional: true,
    schema: v.closed({
      org: v.text(undefined, {
        pattern: orgPattern,
        refusal: 'org must be 1 to 63 lower-case letters, digits and hyphens, such as acme',
      }),
      scopes: v.optional(
        v.nullable(
          v.list(v.text(), undefined, {
            minItems: 1,
            refusal: 'scopes must be a list of scopes; leave it out for a key that may do everything',
          }),
          'null: all of them',
        ),
      ),
      expires_in_seconds: seconds('expires_in_seconds', 1),
    }),
    example: { org: 'acme', scopes: ['shops:write'], expires_in_seconds: 7_776_000 },
  },
  answers: { 201: { about: 'Make a key; its text is shown this once', schema: keyMade } },
})

export const rotateKey = endpoint('POST', '/v1/operator/keys/{key_id}/rotate', 'rotate-key', 'operators', {
  summary: 'Make a key like this one, which runs out after a day unless said otherwise',
  scope: writeKeys,
  isForOperators: true,
  parameters: { key_id: v.text() },
  body: {
    isOptional: true,
    schema: v.closed({
      grace_seconds: seconds('grace_seconds', 0),
      expires_in_seconds: seconds('expires_in_seconds', 1),
    }),
    example: { grace_seconds: 86_400 },
  },
  answers: {
    201: { about: 'Make a key like this one, which runs out after a day unless said otherwise', schema: keyMade },
    409: errorAnswer(409, "This key cannot be replaced here: it has ended, or is an operator's."),
  },
})

export const revokeKey = endpoint('POST', '/v1/operator/keys/{key_id}/revoke', 'revoke-key', 'operators', {
  summary: 'End a key for good',
  scope: writeKeys,
  isForOperators: true,
  parameters: { key_id: v.text() },
  body: { isOptional: true, schema: v.object({}), example: {} },
  answers: answered('End a key for good', v.object({ key_id: v.text(), org: v.text(), revoked_at: v.instant })),
})
