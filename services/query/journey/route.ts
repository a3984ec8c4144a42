import type { FastifyInstance } from 'fastify'
import { noParametersHere } from '#http/query-string.js'
import { callerOf } from '#http/request-context.js'
import { requestError, sendError } from '#http/request-error.js'
import { addResource, notFound } from '#http/resource.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { dataRead } from '#schemas/derive/scopes.js'
import { isUuid } from '#schemas/uuid.js'
import type { Reads } from '../reads.js'
import type { FindJourney } from './find-journey.js'

/** GET /v1/data/{type}/{id}/journey: everything that happened to one record. */
export const addJourney = (
  app: FastifyInstance,
  deps: { catalogue: Catalogue; findJourney: FindJourney; consoleReads: Reads },
): void => {
  addResource(app, '/v1/data/:type/:id/journey', {
    GET: {
      config: { scope: dataRead },
      handler: async (request, reply) => {
        const stranger = noParametersHere(request)
        if (stranger) return sendError(reply, stranger)
        const { type: name, id } = request.params as { type: string; id: string }
        const type = deps.catalogue.all.get(name)
        if (!type) return sendError(reply, notFound(`/v1/data/${name}`, deps.catalogue))
        const { orgId } = callerOf(request)
        const journey = isUuid(id)
          ? await deps.consoleReads(orgId, () => deps.findJourney(orgId, type, id.toLowerCase()))
          : undefined
        if (!journey) return sendError(reply, absent)
        return 'error' in journey ? sendError(reply, journey.error) : reply.send(journey)
      },
    },
  })
}

const absent = requestError(
  404,
  'nothing of yours is known by this type and id; what was just accepted is there in a moment',
)
