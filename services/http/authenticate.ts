import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Catalogue } from '#schemas/catalogue.js'
import { allows } from '#schemas/derive/scopes.js'
import type { Caller } from './request-context.js'
import { type RequestError, requestError, sendError } from './request-error.js'

/** Who a key belongs to; undefined where the text is no key, or no longer one. Throws where that cannot be found out. */
export type FindCaller = (key: string) => Promise<Caller | undefined>

/** A hook that runs before the body is read: the organisation comes from the key, and from nothing else. */
export const createAuthenticate =
  ({ findCaller, catalogue }: { findCaller: FindCaller; catalogue: Catalogue }) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    const { scope, openOrg, isForOperators = false } = request.routeOptions.config
    const { authorization } = request.headers
    if (openOrg !== undefined && authorization === undefined) {
      request.caller = { orgId: openOrg, keyId: null, scopes: null }
      return undefined
    }
    const key = bearerOf(authorization)
    const caller = key === undefined ? undefined : await findCaller(key)
    if (!caller) return sendError(reply, unauthorized)
    request.caller = caller
    if (isForOperators && !caller.isOperator) return sendError(reply, notOperator)
    if (scope !== undefined && !allows(caller.scopes, scope, catalogue))
      return sendError(reply, requestError(403, `this API key lacks the scope ${scope}`))
    const isLooking = request.method === 'GET' || request.method === 'HEAD'
    if (!caller.isOperator || isForOperators || !isLooking) return undefined
    const problem = lookAs(request, caller)
    return problem ? sendError(reply, problem) : undefined
  }

/** An operator looks at the organisation that `?org=` names; the route itself never sees that parameter. */
const lookAs = (request: FastifyRequest, caller: Caller): RequestError | undefined => {
  const query = request.query as Record<string, unknown>
  const { org } = query
  if (org === undefined) return undefined
  if (typeof org !== 'string' || !/^[a-z0-9][a-z0-9-]{0,62}$/.test(org)) return notAnOrg
  delete query.org
  request.caller = { ...caller, orgId: org }
  return undefined
}

const notAnOrg = requestError(400, 'org must be the id of one organisation, such as acme')
const notOperator = requestError(
  403,
  "this needs an operator's API key, which somebody at the server issues: weir keys issue --operator",
)

/** The key that a request shows, if it shows one. */
export const bearerOf = (authorization: string | undefined): string | undefined =>
  authorization === undefined ? undefined : bearerPattern.exec(authorization)?.[1]

const bearerPattern = /^Bearer +([\x21-\x7e]{1,512}) *$/i

const unauthorized: RequestError = {
  status: 401,
  message: 'the API key is invalid or missing; send it as Authorization: Bearer <key>',
  headers: { 'www-authenticate': 'Bearer' },
}
