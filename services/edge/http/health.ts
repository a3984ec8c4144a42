import type { FastifyInstance } from 'fastify'
import type { Readiness } from '#platform/health/health.js'
import { metricsType } from '#platform/health/metrics.js'
import { requestError, sendError } from './request-error.js'
import { addResource } from './resource.js'

export type HealthDeps = {
  /** Of every part, or of those alone that uploads need. */
  readiness: { everything: () => Promise<Readiness>; uploads: () => Promise<Readiness> }
  metricsText: () => Promise<string>
}

/** /healthz, /readyz and /metrics: for operators and their machines, without a key. */
export const addHealth = (app: FastifyInstance, { readiness, metricsText }: HealthDeps): void => {
  addResource(app, '/healthz', { GET: { handler: async () => ({ status: 'ok' }) } })
  addResource(app, '/readyz', {
    GET: {
      handler: async (request, reply) => {
        const { for: wanted = 'everything' } = request.query as { for?: string }
        if (wanted !== 'everything' && wanted !== 'uploads')
          return sendError(reply, requestError(400, 'for must be uploads'))
        const state = await readiness[wanted]()
        return reply.code(state.status === 'ready' ? 200 : 503).send(state)
      },
    },
  })
  addResource(app, '/metrics', {
    GET: { handler: async (_request, reply) => reply.type(metricsType).send(await metricsText()) },
  })
}
