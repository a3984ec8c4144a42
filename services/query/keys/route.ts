import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { pageOf, readCursor, writeCursor } from '#http/cursor.js'
import { addEndpoints, on } from '#http/endpoint.js'
import { callerOf } from '#http/request-context.js'
import { requestError } from '#http/request-error.js'
import { commandLine, type KnownActor } from '#ledger/audit.js'
import { asVerification } from '#ledger/audit-chain.js'
import { type KeyFilter, type KeyWithMakers, stateOf } from '#ledger/keys.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { scopesOf } from '#schemas/derive/scopes.js'
import { listAudit, listOwnAudit, verifyAudit, verifyOwnAudit } from '#schemas/endpoints/access/audit.js'
import * as endpoints from '#schemas/endpoints/access/keys.js'
import type { Reads } from '../reads.js'
import type { KeyActions, KeyChanger } from './actions.js'

export type KeyDeps = { catalogue: Catalogue; keys: KeyActions; auditReads: Reads; now: () => number }

/**
 * Keys and what was done with them: of one's own organisation, for a key with keys:manage, and of every organisation, for operators.
 * A key's text is shown once, in the answer that makes it.
 */
export const addKeys = (app: FastifyInstance, deps: KeyDeps): void => {
  const { keys: actions } = deps
  const knownScopes = scopesOf(deps.catalogue)
  const note = (request: FastifyRequest, facts: object, done: string) =>
    request.log.info({ ...facts, by: callerOf(request).keyId, request_id: request.id }, done)

  type ListAsked = { limit: number; cursor?: string; state?: KeyFilter['state'] }
  const list = async ({ limit, cursor, state }: ListAsked, filter: KeyFilter) => {
    const found = await actions.list({ ...filter, state }, { after: cursor, most: limit + 1 })
    const now = new Date(deps.now())
    const { shown, next_cursor } = pageOf(found, limit, ({ key_id }) => writeCursor([key_id]))
    return { keys: shown.map((key) => keyAnswer(key, now, filter)), next_cursor }
  }

  type Wanted = {
    name?: string | null
    scopes?: readonly string[] | null
    expires_in_seconds?: number | null
  }
  const issue = async (org: string, by: KeyChanger, wanted: Wanted, request: FastifyRequest, reply: FastifyReply) => {
    const { name = null, scopes, expires_in_seconds } = wanted
    if (scopes?.some((scope) => !knownScopes.includes(scope)))
      return { error: requestError(400, `there is an unknown scope; known are ${knownScopes.join(', ')}`) }
    const made = await actions.issue(by, { org, name, scopes, lifetime: msOf(expires_in_seconds) })
    if ('error' in made) return made
    note(request, { key_id: made.keyId, org }, 'key issued')
    reply.code(201)
    return { key_id: made.keyId, name, key: made.key, org, scopes: made.scopes, expires_at: made.expires_at }
  }

  const changesBy = (doerOf: (request: FastifyRequest) => KeyChanger, noSuchKey: ReturnType<typeof requestError>) => {
    type Asked<Body> = { body: Body; parameters: { key_id: string } }
    type Rotation = { grace_seconds?: number | null; expires_in_seconds?: number | null }
    return {
      rename: async ({ body, parameters }: Asked<{ name: string | null }>, request: FastifyRequest) => {
        const renamed = await actions.rename(doerOf(request), parameters.key_id, body.name)
        if (!renamed) return { error: noSuchKey }
        if (!('error' in renamed)) note(request, { key_id: renamed.key_id, org: renamed.org }, 'key renamed')
        return renamed
      },
      rotate: async ({ body, parameters }: Asked<Rotation>, request: FastifyRequest, reply: FastifyReply) => {
        const how = { grace: msOf(body.grace_seconds) ?? aDay, lifetime: msOf(body.expires_in_seconds) }
        const made = await actions.rotate(doerOf(request), parameters.key_id, how)
        if (!made) return { error: noSuchKey }
        if ('error' in made) return made
        const { org, key_id, name, scopes } = made.old
        note(request, { key_id: made.keyId, org, replaces: key_id }, 'key rotated')
        reply.code(201)
        const replaces = { key_id, expires_at: made.endsAt }
        return { key_id: made.keyId, name, key: made.key, org, scopes, expires_at: made.expires_at, replaces }
      },
      revoke: async ({ parameters }: Asked<object>, request: FastifyRequest) => {
        const revoked = await actions.revoke(doerOf(request), parameters.key_id)
        if (!revoked) return { error: noSuchKey }
        if ('error' in revoked) return revoked
        const { key_id, org, revoked_at } = revoked
        note(request, { key_id, org }, 'key revoked')
        return { key_id, org, revoked_at }
      },
    }
  }

  const own = changesBy(ownChanger, noSuchKeyOf('/v1/keys'))
  const all = changesBy(doerOf, noSuchKeyOf('/v1/operator/keys'))
  const byLast = { reads: { cursor: readLast } }

  const audit = async (org: string | null, { limit, cursor }: { limit: number; cursor?: number }, sees: Sees) => {
    const found = await actions.audit(org, { before: cursor, most: limit + 1 })
    const { shown, next_cursor } = pageOf(found, limit, ({ id }) => writeCursor([id]))
    const done = shown.map(({ at, org, action, subject, by, requestId, details, chain, redacted }) => ({
      at,
      org,
      action,
      subject,
      by: actorAnswer(by, sees),
      request_id: requestId,
      details,
      chain,
      redacted,
    }))
    return { done, next_cursor }
  }
  const verify = async (org: string, { head }: { head?: string }) => {
    const verified = await deps.auditReads(org, () => actions.verifyAudit(org, head))
    return 'error' in verified ? verified : asVerification(verified)
  }
  const byId = { reads: { cursor: readId } }

  addEndpoints(app, deps.catalogue, [
    on(
      endpoints.listOwnKeys,
      ({ query }, request) => list(query, { org: callerOf(request).orgId, leavesOperatorsOut: true }),
      byLast,
    ),
    on(endpoints.issueOwnKey, ({ body }, request, reply) =>
      issue(callerOf(request).orgId, ownChanger(request), body, request, reply),
    ),
    on(endpoints.renameOwnKey, own.rename),
    on(endpoints.rotateOwnKey, own.rotate),
    on(endpoints.revokeOwnKey, own.revoke),
    on(listOwnAudit, ({ query }, request) => audit(callerOf(request).orgId, query, {}), byId),
    on(verifyOwnAudit, ({ query }, request) => verify(callerOf(request).orgId, query)),

    on(endpoints.listKeys, ({ query: { org = null, ...query } }) => list(query, { org }), byLast),
    on(endpoints.issueKey, ({ body: { org, ...wanted } }, request, reply) =>
      issue(org, doerOf(request), wanted, request, reply),
    ),
    on(endpoints.renameKey, all.rename),
    on(endpoints.rotateKey, all.rotate),
    on(endpoints.revokeKey, all.revoke),
    on(listAudit, ({ query: { org = null, ...query } }) => audit(org, query, { seesOperators: true }), byId),
    on(verifyAudit, ({ query: { org, ...query } }) => verify(org, query)),
  ])
}

/** An operator, who changes everybody's. */
export const doerOf = (request: FastifyRequest): KeyChanger => ({
  actor: callerOf(request).keyId ?? 'nobody',
  requestId: request.id,
})
const ownChanger = (request: FastifyRequest): KeyChanger => ({ ...doerOf(request), org: callerOf(request).orgId })

const aDay = 86_400_000

/** The id of the last one of a page of organisations or keys. */
export const readLast = (text: string): string | undefined => {
  const [id] = readCursor(text, 1)
  return typeof id === 'string' && /^[\w-]{1,63}$/.test(id) ? id : undefined
}
const readId = (text: string): number | undefined => {
  const [id] = readCursor(text, 1)
  return Number.isSafeInteger(id) ? Number(id) : undefined
}

type Sees = { seesOperators?: boolean }

/** Which operator did something is for operators to know. */
const actorAnswer = ({ actor, name, isOperator }: KnownActor, { seesOperators = false }: Sees) => {
  if (actor === commandLine.actor) return { kind: 'command' as const, key_id: null, name: null }
  if (isOperator && !seesOperators) return { kind: 'operator' as const, key_id: null, name: null }
  return { kind: isOperator ? ('operator' as const) : ('key' as const), key_id: actor, name }
}

const keyAnswer = (key: KeyWithMakers, now: Date, { leavesOperatorsOut = false }: KeyFilter) => {
  const sees = { seesOperators: !leavesOperatorsOut }
  return {
    key_id: key.key_id,
    name: key.name,
    org: key.org,
    scopes: key.scopes,
    is_operator: key.is_operator,
    state: stateOf(key, now),
    created_at: key.created_at,
    created_by: key.created_by && actorAnswer(key.created_by, sees),
    expires_at: key.expires_at,
    revoked_at: key.revoked_at,
    revoked_by: key.revoked_by && actorAnswer(key.revoked_by, sees),
    last_used_at: key.last_used_at,
  }
}

/** Milliseconds; undefined where nothing was said. */
const msOf = (seconds: number | null | undefined): number | undefined =>
  seconds === null || seconds === undefined ? undefined : seconds * 1000

const noSuchKeyOf = (path: string) => requestError(404, `there is no such key; GET ${path} shows those there are`)
