import type { FastifyInstance } from 'fastify'
import { callerOf } from '#http/request-context.js'
import { requestError, sendError } from '#http/request-error.js'
import { addResource } from '#http/resource.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { readRequests } from '#schemas/derive/scopes.js'
import { isUuid } from '#schemas/uuid.js'
import { answerOf } from './answer.js'
import { findStored, resultsOfStored } from './stored-request.js'
import type { VerdictStore } from './verdict-store.js'

/** GET /v1/requests/{request_id}: what became of a request, as its uploader was or would have been answered. */
export const addRequests = (
  app: FastifyInstance,
  deps: { catalogue: Catalogue; store: Pick<VerdictStore, 'ofRequest' | 'ofKeyedRequest'>; now: () => number },
): void => {
  addResource(app, '/v1/requests/:request_id', {
    GET: {
      config: { scope: readRequests },
      handler: async (request, reply) => {
        const { request_id: given } = request.params as { request_id: string }
        const requestId = given.toLowerCase()
        if (!isUuid(requestId)) return sendError(reply, absent)
        const stored = await findStored(deps.store, deps.catalogue.interaction.type, callerOf(request).orgId, requestId)
        const type = stored.verdicts[0]?.type ?? stored.noted?.type
        if (type === undefined) return sendError(reply, absent)
        return answerOf({ requestId, type }, resultsOfStored(stored, deps.now()))
      },
    },
  })
}

const absent = requestError(404, 'no request of yours is known by this id')
