import { METHODS } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import type { Catalogue } from '#schemas/catalogue.js'
import { nearest } from '#schemas/derive/nearest-name.js'
import { type RequestError, requestError, sendError } from './request-error.js'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH'
export type MethodRoute = Pick<RouteOptions, 'handler' | 'onRequest' | 'config' | 'bodyLimit'>

// CONNECT never reaches Fastify: Node treats it apart.
const allMethods = METHODS.filter((method) => method !== 'CONNECT')

/** One address with its methods; every other method is answered 405, with what to do instead. */
export const addResource = (
  app: FastifyInstance,
  url: string,
  routes: Partial<Record<Method, MethodRoute>>,
  instead: (request: FastifyRequest) => string = () => `use ${Object.keys(routes).join(' or ')} here`,
): void => {
  // Fastify answers 404 to methods that it does not know, like PURGE and PROPFIND; here they are to be answered 405.
  for (const method of allMethods) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method)
  const given = Object.keys(routes)
  // Fastify answers HEAD wherever there is a GET.
  const allowed = given.includes('GET') ? [...given, 'HEAD'] : given
  for (const [method, route] of Object.entries(routes)) app.route({ ...route, url, method })
  const refuse = (request: FastifyRequest, reply: FastifyReply) =>
    sendError(reply, { status: 405, message: instead(request), headers: { allow: allowed.join(', ') } })
  app.route({
    url,
    method: allMethods.filter((method) => !allowed.includes(method)),
    // Answered before the body is read, so that its type and size do not matter.
    onRequest: async (request, reply) => refuse(request, reply),
    handler: refuse,
  })
}

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
