import { allScopes, manageKeys, readKeys, writeKeys } from '../../derive/scopes.js'
import { answered, endpoint, type Tag } from '../endpoint.js'
import { errorAnswer } from '../errors.js'
import * as v from '../values.js'

// Keys: those of one's own organisation, for keys with keys:manage; and those of every organisation, for operators.

// What a Postgres integer holds.
const most = { maximum: 2_147_483_647 }
const seconds = (name: string, least: number) => {
  const refusal = `${name} must be a whole number of seconds from ${least} on`
  return v.optional(v.nullable(v.integer(least, undefined, { ...most, refusal })))
}
const scopes = v.nullable(v.list(v.text()), 'null: all of them, as of a key that was issued without any')
export const orgPattern = '^[a-z0-9][a-z0-9-]{0,62}$'
export const notAnOrganisation = 'org must be the id of an organisation'
/** A parameter that names an organisation. */
export const ofOrganisation = (about: string) =>
  v.optional(v.text(about, { pattern: orgPattern, refusal: notAnOrganisation }))

/** As long as the column is; it begins with a character that is seen, and has none that moves the cursor. */
export const keyNamePattern = '^[^\\x00-\\x20\\x7f][^\\x00-\\x1f\\x7f]{0,99}$'
const name = v.text('what people call it', {
  pattern: keyNamePattern,
  refusal: 'name must be a text of 1 to 100 characters, without line ends, and begin with no space',
})

const actorFields = {
  kind: v.oneOf(['key', 'operator', 'command'], { description: '`command`: at the server, by `weir`' }),
  key_id: v.nullable(v.text(), "null for the command, and of an operator's key for all but operators"),
  name: v.nullable(v.text(), 'the name that the key has now'),
}
export const actor = v.named('Actor', actorFields)

const key = v.named('KeyListed', {
  key_id: v.text(),
  name: v.nullable(v.text()),
  org: v.text(),
  scopes,
  is_operator: v.flag(),
  state: v.oneOf(['active', 'expired', 'revoked']),
  created_at: v.instant,
  created_by: v.nullable(v.object(actorFields), 'null where it was made before this was kept'),
  expires_at: v.nullable(v.instant),
  revoked_at: v.nullable(v.instant),
  revoked_by: v.nullable(v.object(actorFields)),
  last_used_at: v.nullable(v.instant),
})
const keyMade = v.named('KeyMade', {
  key_id: v.text(),
  name: v.nullable(v.text()),
  key: v.text('the text of the key; only its hash is kept'),
  org: v.text(),
  scopes,
  expires_at: v.nullable(v.instant),
  replaces: v.optional(v.object({ key_id: v.text(), expires_at: v.instant })),
})

// Before there were pages, an answer held all there are: a client that knows of no pages still gets that, up to this many.
export const wholeList = { limit: v.limitTo(1000, 1000), cursor: v.cursor }
const listed = {
  state: v.optional(v.oneOf(['active', 'ended'], { description: 'only those that may be used, or only the others' })),
  ...wholeList,
}
const listAnswers = answered('A page.', v.object({ keys: v.list(key), next_cursor: v.nextCursor }))

const wanted = {
  name: v.optional(v.nullable(name)),
  scopes: v.optional(
    v.nullable(
      v.list(v.text(), undefined, {
        minItems: 1,
        refusal: 'scopes must be a list of scopes; leave it out for a key that may do everything for its organisation',
      }),
      `null: \`${allScopes}\`, everything but \`${manageKeys}\``,
    ),
  ),
  expires_in_seconds: seconds('expires_in_seconds', 1),
}
const madeBefore =
  'This request made a key before, whose text is not kept. Revoke it, and make another with another Idempotency-Key.'
const shownOnce = 'Make a key; its text is shown this once'
const made = {
  201: { about: shownOnce, schema: keyMade },
  409: errorAnswer(409, madeBefore),
}

type ChangedAt = { path: string; ofWhat: string; tag: Tag; scope: string; isForOperators?: true }

/** What is the same of one's own keys and of everybody's. */
const changesAt = ({ path, ofWhat, tag, ...who }: ChangedAt) => ({
  rename: endpoint('PATCH', `${path}/{key_id}`, `rename-${ofWhat}`, tag, {
    summary: 'Give a key another name',
    ...who,
    parameters: { key_id: v.text() },
    body: { schema: v.closed({ name: v.nullable(name, 'null: none') }), example: { name: 'nightly upload' } },
    answers: answered(
      'Give a key another name',
      v.object({ key_id: v.text(), org: v.text(), name: v.nullable(v.text()) }),
    ),
  }),
  rotate: endpoint('POST', `${path}/{key_id}/rotate`, `rotate-${ofWhat}`, tag, {
    summary: 'Make a key like this one, which runs out after a day unless said otherwise',
    ...who,
    takesKey: true,
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
      409: errorAnswer(409, `This key cannot be replaced here: it has ended, or is an operator's. Or: ${madeBefore}`),
    },
  }),
  revoke: endpoint('POST', `${path}/{key_id}/revoke`, `revoke-${ofWhat}`, tag, {
    summary: 'End a key for good',
    ...who,
    parameters: { key_id: v.text() },
    body: { isOptional: true, schema: v.object({}), example: {} },
    answers: {
      ...answered('End a key for good', v.object({ key_id: v.text(), org: v.text(), revoked_at: v.instant })),
      ...(!who.isForOperators && { 409: errorAnswer(409, 'This is the key that you are using: rotate it instead.') }),
    },
  }),
})

export const listOwnKeys = endpoint('GET', '/v1/keys', 'list-own-keys', 'keys', {
  summary: 'Your keys, without their secrets',
  scope: manageKeys,
  query: listed,
  answers: listAnswers,
})

export const issueOwnKey = endpoint('POST', '/v1/keys', 'issue-own-key', 'keys', {
  summary: shownOnce,
  about: `With no scope that your key lacks (all of your key's but \`${manageKeys}\`, unless said), and for no longer than your key lives. An organisation has at most 1000 active keys, and changes keys at most 1000 times in 24 hours.`,
  scope: manageKeys,
  takesKey: true,
  body: {
    isOptional: true,
    schema: v.closed(wanted),
    example: { name: 'nightly upload', scopes: ['shops:write'], expires_in_seconds: 7_776_000 },
  },
  answers: made,
})

export const {
  rename: renameOwnKey,
  rotate: rotateOwnKey,
  revoke: revokeOwnKey,
} = changesAt({ path: '/v1/keys', ofWhat: 'own-key', tag: 'keys', scope: manageKeys })

export const listKeys = endpoint('GET', '/v1/operator/keys', 'list-keys', 'operators', {
  summary: 'Every key, without its secret',
  scope: readKeys,
  isForOperators: true,
  query: { org: ofOrganisation('only those of this organisation'), ...listed },
  answers: listAnswers,
})

export const issueKey = endpoint('POST', '/v1/operator/keys', 'issue-key', 'operators', {
  summary: shownOnce,
  scope: writeKeys,
  isForOperators: true,
  takesKey: true,
  body: {
    isOptional: true,
    schema: v.closed({
      org: v.text(undefined, {
        pattern: orgPattern,
        refusal: 'org must be 1 to 63 lower-case letters, digits and hyphens, such as acme',
      }),
      ...wanted,
    }),
    example: { org: 'acme', name: 'nightly upload', scopes: ['shops:write'], expires_in_seconds: 7_776_000 },
  },
  answers: made,
})

export const {
  rename: renameKey,
  rotate: rotateKey,
  revoke: revokeKey,
} = changesAt({ path: '/v1/operator/keys', ofWhat: 'key', tag: 'operators', scope: writeKeys, isForOperators: true })
