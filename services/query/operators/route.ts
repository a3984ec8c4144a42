import type { FastifyInstance, FastifyRequest } from 'fastify'
import { pageOf, readCursor, writeCursor } from '#http/cursor.js'
import { addEndpoints, on } from '#http/endpoint.js'
import { callerOf } from '#http/request-context.js'
import { requestError } from '#http/request-error.js'
import { type Key, stateOf } from '#ledger/keys.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { scopesOf } from '#schemas/derive/scopes.js'
import * as endpoints from '#schemas/endpoints/operators.js'
import type { OperatorActions } from './actions.js'

/** Organisations and keys, for operators. A key's text is shown once, in the answer that makes it. */
export const addOperators = (
  app: FastifyInstance,
  deps: { catalogue: Catalogue; operators: OperatorActions; now: () => number },
): void => {
  const { operators: actions } = deps
  const knownScopes = scopesOf(deps.catalogue)
  const note = (request: FastifyRequest, facts: object, done: string) =>
    request.log.info({ ...facts, by: callerOf(request).keyId, request_id: request.id }, done)

  const organisations = on(
    endpoints.listOrganisations,
    async ({ query: { prefix, limit, cursor } }) => {
      const found = await actions.organisations({ prefix, after: cursor, most: limit + 1 })
      const { shown, next_cursor } = pageOf(found, limit, ({ org }) => writeCursor([org]))
      return { organisations: shown, next_cursor }
    },
    { reads: { cursor: readLast } },
  )

  const keys = on(
    endpoints.listKeys,
    async ({ query: { org = null, limit, cursor } }) => {
      const found = await actions.keys(org, { after: cursor, most: limit + 1 })
      const now = new Date(deps.now())
      const { shown, next_cursor } = pageOf(found, limit, ({ key_id }) => writeCursor([key_id]))
      return { keys: shown.map((key) => keyAnswer(key, now)), next_cursor }
    },
    { reads: { cursor: readLast } },
  )

  const issue = on(endpoints.issueKey, async ({ body: { org, scopes = null, expires_in_seconds } }, request, reply) => {
    if (scopes?.some((scope) => !knownScopes.includes(scope)))
      return { error: requestError(400, `there is an unknown scope; known are ${knownScopes.join(', ')}`) }
    const lifetime = msOf(expires_in_seconds) ?? null
    const made = await actions.issue({ org, scopes: scopes && [...scopes], lifetime })
    note(request, { key_id: made.keyId, org }, 'key issued')
    reply.code(201)
    return { key_id: made.keyId, key: made.key, org, scopes, expires_at: made.expires_at }
  })

  const rotate = on(endpoints.rotateKey, async ({ body, parameters: { key_id } }, request, reply) => {
    const how = { grace: msOf(body.grace_seconds) ?? aDay, lifetime: msOf(body.expires_in_seconds) }
    const made = await actions.rotate(key_id, how)
    if (!made) return { error: noSuchKey }
    if ('problem' in made) return { error: requestError(409, made.problem) }
    const { old, endsAt } = made
    note(request, { key_id: made.keyId, org: old.org, replaces: old.key_id }, 'key rotated')
    reply.code(201)
    return {
      key_id: made.keyId,
      key: made.key,
      org: old.org,
      scopes: old.scopes,
      expires_at: made.expires_at,
      replaces: { key_id: old.key_id, expires_at: endsAt },
    }
  })

  const revoke = on(endpoints.revokeKey, async ({ parameters }, request) => {
    const revoked = await actions.revoke(parameters.key_id)
    if (!revoked) return { error: noSuchKey }
    const { key_id, org, revoked_at } = revoked
    note(request, { key_id, org }, 'key revoked')
    return { key_id, org, revoked_at }
  })

  const limit = on(endpoints.limitOrganisation, async ({ body, parameters: { org } }, request) => {
    const limits = isOrg(org) ? await actions.setLimits(org, body) : undefined
    if (!limits) return { error: noSuchOrg }
    note(request, { org, ...limits }, 'limits set')
    return { org, ...limits }
  })

  addEndpoints(app, deps.catalogue, [organisations, keys, issue, rotate, revoke, limit])
}

const aDay = 86_400_000

const readLast = (text: string): string | undefined => {
  const [id] = readCursor(text, 1)
  return typeof id === 'string' && /^[\w-]{1,63}$/.test(id) ? id : undefined
}

const keyAnswer = (key: Key, now: Date) => ({
  key_id: key.key_id,
  org: key.org,
  scopes: key.scopes,
  is_operator: key.is_operator,
  state: stateOf(key, now),
  created_at: key.created_at,
  expires_at: key.expires_at,
  revoked_at: key.revoked_at,
  last_used_at: key.last_used_at,
})

/** Milliseconds; undefined where nothing was said. */
const msOf = (seconds: number | null | undefined): number | undefined =>
  seconds === null || seconds === undefined ? undefined : seconds * 1000

const isOrg = (text: string): boolean => /^[a-z0-9][a-z0-9-]{0,62}$/.test(text)

const noSuchKey = requestError(404, 'there is no such key; GET /v1/operator/keys shows those there are')
const noSuchOrg = requestError(
  404,
  'there is no such organisation; GET /v1/operator/organisations shows those there are',
)
