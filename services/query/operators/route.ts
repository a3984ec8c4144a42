import type { FastifyInstance, FastifyRequest } from 'fastify'
import { bodyOf } from '#http/body.js'
import { readQuery, refuseQuery } from '#http/query-string.js'
import { callerOf } from '#http/request-context.js'
import { type RequestError, requestError, sendError } from '#http/request-error.js'
import { addResource } from '#http/resource.js'
import { type Key, stateOf } from '#ledger/keys.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { nearest } from '#schemas/derive/nearest-name.js'
import { readKeys, scopesOf, writeKeys } from '#schemas/derive/scopes.js'
import type { OperatorActions } from './actions.js'

/** Organisations and keys, for operators. A key's text is shown once, in the answer that makes it. */
export const addOperators = (
  app: FastifyInstance,
  deps: { catalogue: Catalogue; operators: OperatorActions; now: () => number },
): void => {
  const { operators: actions } = deps
  const read = { config: { scope: readKeys, isForOperators: true } }
  const change = (form: string) => ({
    config: { scope: writeKeys, isForOperators: true, form },
    bodyLimit: mostBytes,
  })
  const note = (request: FastifyRequest, facts: object, done: string) =>
    request.log.info({ ...facts, by: callerOf(request).keyId, request_id: request.id }, done)

  addResource(app, '/v1/operator/organisations', {
    GET: { ...read, handler: async (_request, reply) => reply.send({ organisations: await actions.organisations() }) },
  })

  addResource(app, '/v1/operator/keys', {
    GET: {
      ...read,
      handler: async (request, reply) => {
        let org: string | null = null
        const problems = readQuery(request, {
          org: (value) => {
            org = value
            return isOrg(value) ? undefined : { code: 'bad_format', message: 'must be the id of an organisation' }
          },
        })
        if (problems.length > 0) return refuseQuery(reply, problems)
        const now = new Date(deps.now())
        return reply.send({ keys: (await actions.keys(org)).map((key) => keyAnswer(key, now)) })
      },
    },
    POST: {
      ...change('{"org": "acme", "scopes": ["shops:write"], "expires_in_seconds": 7776000}'),
      handler: async (request, reply) => {
        const body = readBody(request, ['org', 'scopes', 'expires_in_seconds'])
        if ('error' in body) return sendError(reply, body.error)
        const { org, scopes = null } = body.given
        if (typeof org !== 'string' || !isOrg(org)) return sendError(reply, wrongOrg)
        const unknownScope = faultOfScopes(scopes, scopesOf(deps.catalogue))
        if (unknownScope) return sendError(reply, unknownScope)
        const lifetime = readSeconds(body.given.expires_in_seconds, 'expires_in_seconds', 1)
        if (typeof lifetime === 'object') return sendError(reply, lifetime)
        const made = await actions.issue({ org, scopes: scopes as string[] | null, lifetime: lifetime ?? null })
        note(request, { key_id: made.keyId, org }, 'key issued')
        return reply.code(201).send({ key_id: made.keyId, key: made.key, org, scopes, expires_at: made.expires_at })
      },
    },
  })

  addResource(app, '/v1/operator/keys/:key_id/rotate', {
    POST: {
      ...change('{"grace_seconds": 86400}'),
      handler: async (request, reply) => {
        const body = readBody(request, ['grace_seconds', 'expires_in_seconds'])
        if ('error' in body) return sendError(reply, body.error)
        const grace = readSeconds(body.given.grace_seconds, 'grace_seconds', 0)
        const lifetime = readSeconds(body.given.expires_in_seconds, 'expires_in_seconds', 1)
        if (typeof grace === 'object') return sendError(reply, grace)
        if (typeof lifetime === 'object') return sendError(reply, lifetime)
        const made = await actions.rotate(keyIdIn(request), { grace: grace ?? aDay, lifetime })
        if (!made) return sendError(reply, noSuchKey)
        if ('problem' in made) return sendError(reply, requestError(409, made.problem))
        const { old, endsAt } = made
        note(request, { key_id: made.keyId, org: old.org, replaces: old.key_id }, 'key rotated')
        return reply.code(201).send({
          key_id: made.keyId,
          key: made.key,
          org: old.org,
          scopes: old.scopes,
          expires_at: made.expires_at,
          replaces: { key_id: old.key_id, expires_at: endsAt },
        })
      },
    },
  })

  addResource(app, '/v1/operator/keys/:key_id/revoke', {
    POST: {
      ...change('{}'),
      handler: async (request, reply) => {
        const revoked = await actions.revoke(keyIdIn(request))
        if (!revoked) return sendError(reply, noSuchKey)
        const { key_id, org, revoked_at } = revoked
        note(request, { key_id, org }, 'key revoked')
        return reply.send({ key_id, org, revoked_at })
      },
    },
  })

  addResource(app, '/v1/operator/organisations/:org/limits', {
    PUT: {
      ...change('{"requests_per_second": 50, "records_per_second": null}'),
      handler: async (request, reply) => {
        const body = readBody(request, ['requests_per_second', 'records_per_second'])
        if ('error' in body) return sendError(reply, body.error)
        const [name] = Object.entries(body.given).find(([, limit]) => limit !== null && !isCount(limit, 0)) ?? []
        if (name !== undefined)
          return sendError(
            reply,
            requestError(400, `${name} must be a whole number, 0 for no limit, or null for the default`),
          )
        const { org } = request.params as { org: string }
        const limits = isOrg(org) ? await actions.setLimits(org, body.given) : undefined
        if (!limits) return sendError(reply, noSuchOrg)
        note(request, { org, ...limits }, 'limits set')
        return reply.send({ org, ...limits })
      },
    },
  })
}

const mostBytes = 16 * 1024
const aDay = 86_400_000

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

/** The object in the body, which may have these fields only; no body at all is an empty one. */
const readBody = (
  request: FastifyRequest,
  known: readonly string[],
): { given: Record<string, unknown> } | { error: RequestError } => {
  if (request.body === undefined) return { given: {} }
  const body = bodyOf(request)
  if ('error' in body) return body
  if (typeof body.json !== 'object' || body.json === null || Array.isArray(body.json))
    return { error: requestError(400, 'the body must be a JSON object') }
  const [stranger] = Object.keys(body.json).filter((name) => !known.includes(name))
  if (stranger === undefined) return { given: body.json as Record<string, unknown> }
  const close = nearest(stranger, known)
  return {
    error: requestError(
      400,
      `there is an unknown field; ${close ? `did you mean ${close}?` : `known are ${known.join(', ')}`}`,
    ),
  }
}

// What a Postgres integer holds.
const most = 2_147_483_647
const isCount = (value: unknown, least: number): value is number =>
  Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most

/** Milliseconds; undefined where nothing was said. */
const readSeconds = (value: unknown, name: string, least: number): number | undefined | RequestError => {
  if (value === undefined || value === null) return undefined
  return isCount(value, least)
    ? value * 1000
    : requestError(400, `${name} must be a whole number of seconds from ${least} on`)
}

const faultOfScopes = (scopes: unknown, known: readonly string[]): RequestError | undefined => {
  if (scopes === null) return undefined
  if (!Array.isArray(scopes) || scopes.length === 0)
    return requestError(400, 'scopes must be a list of scopes; leave it out for a key that may do everything')
  if (scopes.every((scope) => known.includes(scope as string))) return undefined
  return requestError(400, `there is an unknown scope; known are ${known.join(', ')}`)
}

const isOrg = (text: string): boolean => /^[a-z0-9][a-z0-9-]{0,62}$/.test(text)
const keyIdIn = (request: FastifyRequest): string => (request.params as { key_id: string }).key_id

const wrongOrg = requestError(400, 'org must be 1 to 63 lower-case letters, digits and hyphens, such as acme')
const noSuchKey = requestError(404, 'there is no such key; GET /v1/operator/keys shows those there are')
const noSuchOrg = requestError(
  404,
  'there is no such organisation; GET /v1/operator/organisations shows those there are',
)
