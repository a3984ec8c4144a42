import type { FastifyInstance } from 'fastify'
import { addEndpoints, on } from '#http/endpoint.js'
import { callerOf } from '#http/request-context.js'
import { requestError } from '#http/request-error.js'
import { notFound } from '#http/resource.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { followRecord } from '#schemas/endpoints/requests.js'
import { isUuid } from '#schemas/uuid.js'
import type { Reads } from '../reads.js'
import type { FindJourney } from './find-journey.js'

/** GET /v1/data/{type}/{id}/journey: everything that happened to one record. */
export const addJourney = (
  app: FastifyInstance,
  deps: { catalogue: Catalogue; findJourney: FindJourney; consoleReads: Reads },
): void => {
  const follow = on(followRecord, async ({ parameters: { type: name, id } }, request) => {
    const type = deps.catalogue.all.get(name)
    if (!type) return { error: notFound(`/v1/data/${name}`, deps.catalogue) }
    const { orgId } = callerOf(request)
    const journey = isUuid(id)
      ? await deps.consoleReads(orgId, () => deps.findJourney(orgId, type, id.toLowerCase()))
      : undefined
    return journey ?? { error: absent }
  })
  addEndpoints(app, deps.catalogue, [follow])
}

const absent = requestError(
  404,
  'nothing of yours is known by this type and id; what was just accepted is there in a moment',
)
