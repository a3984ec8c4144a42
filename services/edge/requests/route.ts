import type { FastifyInstance } from 'fastify'
import { addEndpoints, on } from '#http/endpoint.js'
import { callerOf } from '#http/request-context.js'
import { requestError } from '#http/request-error.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { lookUpRequest } from '#schemas/endpoints/requests.js'
import { isUuid } from '#schemas/uuid.js'
import { answerOf } from './answer.js'
import { findStored, resultsOfStored } from './stored-request.js'
import type { VerdictStore } from './verdict-store.js'

/** GET /v1/requests/{request_id}: what became of a request, as its uploader was or would have been answered. */
export const addRequests = (
  app: FastifyInstance,
  deps: { catalogue: Catalogue; store: Pick<VerdictStore, 'ofRequest' | 'ofKeyedRequest'>; now: () => number },
): void => {
  const lookUp = on(lookUpRequest, async ({ parameters: { request_id: given } }, request) => {
    const requestId = given.toLowerCase()
    if (!isUuid(requestId)) return { error: absent }
    const stored = await findStored(deps.store, deps.catalogue.interaction.type, callerOf(request).orgId, requestId)
    const type = stored.verdicts[0]?.type ?? stored.noted?.type
    if (type === undefined) return { error: absent }
    return answerOf({ requestId, type }, resultsOfStored(stored, deps.now()))
  })
  addEndpoints(app, deps.catalogue, [lookUp])
}

const absent = requestError(404, 'no request of yours is known by this id')
