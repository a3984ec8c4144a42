import { readKeys, writeKeys } from '../derive/scopes.js'
import { endpoint } from './endpoint.js'
import { errorAnswer } from './errors.js'
import {
  closed,
  count,
  flag,
  instant,
  integer,
  list,
  meaning,
  named,
  nullable,
  object,
  oneOf,
  optional,
  text,
} from './values.js'

// Organisations and keys, for operators.

// What a Postgres integer holds.
const most = { maximum: 2_147_483_647 }
const limit = nullable(integer(0, undefined, most), 'null: the default; 0: no limit')
const limits = { requests_per_second: limit, records_per_second: limit }
const givenLimit = (name: string) =>
  optional(
    meaning(
      limit,
      'null: the default; 0: no limit',
      `${name} must be a whole number, 0 for no limit, or null for the default`,
    ),
  )
const seconds = (name: string, least: number) =>
  optional(
    nullable(
      integer(least, undefined, {
        ...most,
        refusal: `${name} must be a whole number of seconds from ${least} on`,
      }),
    ),
  )
const scopes = nullable(list(text()), 'null: all of them')
const orgPattern = '^[a-z0-9][a-z0-9-]{0,62}$'

const organisation = named(
  'OrganisationListed',
  object({ org: text(), created_at: instant, active_keys: count(), ...limits }),
)
const key = named(
  'KeyListed',
  object({
    key_id: text(),
    org: text(),
    scopes,
    is_operator: flag(),
    state: oneOf(['active', 'expired', 'revoked']),
    created_at: instant,
    expires_at: nullable(instant),
    revoked_at: nullable(instant),
    last_used_at: nullable(instant),
  }),
)
const keyMade = named(
  'KeyMade',
  object({
    key_id: text(),
    key: text('the text of the key; only its hash is kept'),
    org: text(),
    scopes,
    expires_at: nullable(instant),
    replaces: optional(object({ key_id: text(), expires_at: instant })),
  }),
)

export const listOrganisations = endpoint('GET', '/v1/operator/organisations', 'list-organisations', 'operators', {
  summary: 'Every organisation',
  scope: readKeys,
  isForOperators: true,
  answers: { 200: { about: 'Every organisation', schema: object({ organisations: list(organisation) }) } },
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
    parameters: { org: text() },
    body: {
      isOptional: true,
      schema: closed({
        requests_per_second: givenLimit('requests_per_second'),
        records_per_second: givenLimit('records_per_second'),
      }),
      example: { requests_per_second: 50, records_per_second: null },
    },
    answers: {
      200: {
        about: 'Set how much each key of an organisation may send',
        schema: object({ org: text(), ...limits }),
      },
    },
  },
)

export const listKeys = endpoint('GET', '/v1/operator/keys', 'list-keys', 'operators', {
  summary: 'Every key, without its secret',
  scope: readKeys,
  isForOperators: true,
  query: {
    org: optional(
      text('only those of this organisation', {
        pattern: orgPattern,
        refusal: 'org must be the id of an organisation',
      }),
    ),
  },
  answers: { 200: { about: 'Every key, without its secret', schema: object({ keys: list(key) }) } },
})

export const issueKey = endpoint('POST', '/v1/operator/keys', 'issue-key', 'operators', {
  summary: 'Make a key; its text is shown this once',
  scope: writeKeys,
  isForOperators: true,
  body: {
    isOptional: true,
    schema: closed({
      org: text(undefined, {
        pattern: orgPattern,
        refusal: 'org must be 1 to 63 lower-case letters, digits and hyphens, such as acme',
      }),
      scopes: optional(
        nullable(
          list(text(), undefined, {
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
  parameters: { key_id: text() },
  body: {
    isOptional: true,
    schema: closed({
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
  parameters: { key_id: text() },
  body: { isOptional: true, schema: object({}), example: {} },
  answers: {
    200: { about: 'End a key for good', schema: object({ key_id: text(), org: text(), revoked_at: instant }) },
  },
})
