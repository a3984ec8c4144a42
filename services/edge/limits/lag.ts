import type { FastifyInstance } from 'fastify'
import { callerOf } from '#http/request-context.js'
import { sendError, tryLater } from '#http/request-error.js'
import { type ConfigSchema, integer } from '#platform/process/config.js'
import type { Catalogue } from '#schemas/catalogue.js'
import type { EdgeFigures } from '../figures.js'

export const lagVariables = {
  // A sixth of VERDICT_TIMEOUT_MS: integrity may become five times slower, and what it was expected to decide in this time is
  // still decided before its requests time out.
  MAX_LAG_MS: integer(
    { minimum: 100, default: 5_000 },
    "how long an organisation's oldest batch of a type may be undecided, or its next one be expected to, before no more of it is taken in. Keep it at a sixth of VERDICT_TIMEOUT_MS",
  ),
} as const satisfies ConfigSchema['properties']

const lagging = tryLater(
  503,
  'what was sent before is still to be decided; try again in a few seconds; retrying is safe',
)

/**
 * Takes nothing in for a type of an organisation while integrity is far behind with it, or will be. Batches count until they are
 * decided, also when their requests were answered "outcome unknown": else each retry would add to what integrity cannot keep up with.
 * Every edge sees the same lag, however many edges there are, and other types and organisations go on.
 */
export const addLagShedding = (
  app: FastifyInstance,
  deps: {
    catalogue: Catalogue
    isLagging: (type: string, orgId: string) => boolean
    figures: Pick<EdgeFigures, 'shed'>
  },
): void => {
  const { catalogue } = deps
  const paths = ['/v1/data', '/v1/imports']
  const typeAt = new Map(
    [...catalogue.uploads.keys()].flatMap((type) => paths.map((path): [string, string] => [`${path}/${type}`, type])),
  )
  typeAt.set('/user-interactions', catalogue.interaction.type)

  app.addHook('onRequest', async (request, reply) => {
    const type = request.method === 'POST' ? typeAt.get(request.routeOptions.url ?? '') : undefined
    if (type === undefined || !deps.isLagging(type, callerOf(request).orgId)) return undefined
    deps.figures.shed.inc({ reason: 'lag' })
    return sendError(reply, lagging)
  })
}
