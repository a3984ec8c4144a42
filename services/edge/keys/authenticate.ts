import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Catalogue } from '#schemas/catalogue.js'
import { allows } from '#schemas/derive/scopes.js'
import type { Caller } from '../http/request-context.js'
import { type RequestError, requestError, sendError } from '../http/request-error.js'

/** Who a key belongs to; undefined where the text is no key, or no longer one. Throws where that cannot be found out. */
export type FindCaller = (key: string) => Promise<Caller | undefined>

/** A hook that runs before the body is read: the organisation comes from the key, and from nothing else. */
export const createAuthenticate =
  ({ findCaller, catalogue }: { findCaller: FindCaller; catalogue: Catalogue }) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    const { scope, openOrg } = request.routeOptions.config
    const { authorization } = request.headers
    if (openOrg !== undefined && authorization === undefined) {
      request.caller = { orgId: openOrg, keyId: null, scopes: null }
      return undefined
    }
    const key = bearerOf(authorization)
    const caller = key === undefined ? undefined : await findCaller(key)
    if (!caller) return sendError(reply, unauthorized)
    request.caller = caller
    if (scope === undefined || allows(caller.scopes, scope, catalogue)) return undefined
    return sendError(reply, requestError(403, `this API key lacks the scope ${scope}`))
  }

/** The key that a request shows, if it shows one. */
export const bearerOf = (authorization: string | undefined): string | undefined =>
  authorization === undefined ? undefined : bearerPattern.exec(authorization)?.[1]

const bearerPattern = /^Bearer +([\x21-\x7e]{1,512}) *$/i

const unauthorized: RequestError = {
  status: 401,
  message: 'the API key is invalid or missing; send it as Authorization: Bearer <key>',
  headers: { 'www-authenticate': 'Bearer' },
}
