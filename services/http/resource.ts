import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import type { Catalogue } from '#schemas/catalogue.js'
import { nearest } from '#schemas/derive/nearest-name.js'
import { type RequestError, requestError, sendError } from './request-error.js'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
export type MethodRoute = Pick<RouteOptions, 'handler' | 'onRequest' | 'config' | 'bodyLimit'>

type Guard = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply | undefined>
/** An address; what is to be done instead of a method that it does not have; and what a request has to pass before it is told. */
type Address = {
  pattern: RegExp
  allowed: string
  instead: (id: string | undefined) => string
  guards: readonly Guard[]
}

declare module 'fastify' {
  interface FastifyInstance {
    resources: Address[]
    /** What every request to the resources of this instance has to pass. */
    guards: readonly Guard[]
  }
}

/** To be called before resources are added. Answers requests to no route: 405 where the address has other methods, or else `missing`. */
export const addUnrouted = (app: FastifyInstance, missing: (url: string) => RequestError): void => {
  app.decorate('resources', [])
  app.decorate('guards', [])
  app.setNotFoundHandler((request, reply) => sendError(reply, missing(request.url)))
  // In a hook, because Fastify reads the body before it calls the not-found handler, and might complain about the body.
  app.addHook('onRequest', async (request, reply) => {
    if (!request.is404) return undefined
    const [path = ''] = request.url.split('?')
    for (const { pattern, allowed, instead, guards } of app.resources) {
      const found = pattern.exec(path)
      if (!found) continue
      for (const guard of guards) {
        await guard(request, reply)
        if (reply.sent) return reply
      }
      return sendError(reply, { status: 405, message: instead(found[1]), headers: { allow: allowed } })
    }
    return sendError(reply, missing(request.url))
  })
}

/** From here on, resources of this instance are for requests that pass the guards. */
export const addGuards = (app: FastifyInstance, guards: readonly Guard[]): void => {
  app.decorate('guards', guards)
  for (const guard of guards) app.addHook('onRequest', guard)
}

/**
 * One address with its methods; every other method is answered 405, with what to do instead, which may depend on the address's first
 * parameter. A route for each of those methods, of which there are thirty, took four fifths of the time in which an edge was made.
 */
export const addResource = (
  app: FastifyInstance,
  url: string,
  routes: Partial<Record<Method, MethodRoute>>,
  instead: Address['instead'] = () => `use ${Object.keys(routes).join(' or ')} here`,
): void => {
  const given = Object.keys(routes)
  // Fastify answers HEAD wherever there is a GET.
  const allowed = (given.includes('GET') ? [...given, 'HEAD'] : given).join(', ')
  for (const [method, route] of Object.entries(routes)) app.route({ ...route, url, method })
  app.resources.push({ pattern: patternOf(url), allowed, instead, guards: app.guards })
}

/** /v1/data/shops/:id as a pattern of paths. */
const patternOf = (url: string): RegExp =>
  new RegExp(`^${url.replaceAll('.', '\\.').replace(/\*$/, '.*').replaceAll(/:\w+/g, '([^/]+)')}$`)

const uploadPath = /^\/v1\/(?:data|imports)\/([^/?#]*)/

/** Why there is nothing at this address, with what the caller may have meant. */
export const notFound = (url: string, catalogue: Catalogue): RequestError => {
  const type = uploadPath.exec(url)?.[1]
  if (type === undefined) return requestError(404, 'there is nothing at this address; /docs shows what there is')
  const types = [...catalogue.all.keys()]
  const close = nearest(type, types)
  const known = `the types are ${types.join(', ')}`
  return requestError(404, `there is no such type; ${close ? `did you mean ${close}? ` : ''}${known}`)
}
