import { METHODS } from 'node:http'
import type { FastifyInstance, RouteOptions } from 'fastify'
import { requestError, sendError } from './request-error.js'

export type Method = 'GET' | 'POST'
type Route = Pick<RouteOptions, 'handler' | 'onRequest' | 'config'>

// Node hands us no CONNECT.
const allMethods = METHODS.filter((method) => method !== 'CONNECT')

/** One address with its methods; every other method is answered 405. */
export const addResource = (app: FastifyInstance, url: string, routes: Partial<Record<Method, Route>>): void => {
  // PURGE, PROPFIND and the like reach us too: unless Fastify knows them, the address would not be found.
  for (const method of allMethods) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method)
  const given = Object.keys(routes)
  // Fastify answers HEAD wherever there is a GET.
  const allowed = given.includes('GET') ? [...given, 'HEAD'] : given
  for (const [method, route] of Object.entries(routes)) app.route({ ...route, url, method })
  const refusal = { ...requestError(405, `use ${given.join(' or ')} here`), headers: { allow: allowed.join(', ') } }
  app.route({
    url,
    method: allMethods.filter((method) => !allowed.includes(method)),
    // Before the body is read: its type and size do not matter here.
    onRequest: async (_request, reply) => sendError(reply, refusal),
    handler: (_request, reply) => sendError(reply, refusal),
  })
}
