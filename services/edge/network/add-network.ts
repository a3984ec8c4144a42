import type { FastifyInstance } from 'fastify'
import { sendError } from '../http/request-error.js'
import { answerOrigin } from './cors.js'
import type { Network } from './network.js'
import { cameInTheClear, useHttps } from './plain-http.js'
import { securityHeaders } from './security-headers.js'

/** The first hook of every request: how it came here decides whether it is heard, and what its answer carries. */
export const addNetwork = (app: FastifyInstance, network: Pick<Network, 'isTrustedProxy' | 'origins'>): void => {
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(securityHeaders(request.protocol === 'https'))
    if (cameInTheClear(request, network.isTrustedProxy)) return sendError(reply, useHttps)
    return answerOrigin(request, reply, network.origins)
  })
}
