import type { FastifyInstance } from 'fastify'
import { callerOf } from '#http/request-context.js'
import { sendError, tryLater } from '#http/request-error.js'
import { partitionOf } from '#platform/kafka/partitions.js'
import { type ConfigSchema, integer } from '#platform/process/config.js'
import type { Placed, Places } from '../batches/places.js'
import type { EdgeFigures } from '../figures.js'
import { soon, type Verdicts } from '../stream/verdicts.js'
import type { Backlog } from './backlog.js'

export const lagVariables = {
  // A sixth of VERDICT_TIMEOUT_MS: integrity may become five times slower, and what it was expected to decide in this time is
  // still decided before its requests time out.
  MAX_LAG_MS: integer(
    { minimum: 100, default: 5_000 },
    "how long an organisation's oldest batch of a lane may be undecided, or its next one be expected to, before no more of that lane is taken in. Keep it at a sixth of VERDICT_TIMEOUT_MS",
  ),
} as const satisfies ConfigSchema['properties']

export const lagging = tryLater(
  503,
  'what was sent before is still to be decided; try again in a few seconds; retrying is safe',
)

/** How far integrity is behind. */
export type Lag = {
  /** Whether nothing of a type is taken in for an organisation: all the partitions that it may go to are far behind. */
  isLagging: (type: string, orgId: string) => boolean
  /** Whether some of them are. */
  isPartlyLagging: (type: string, orgId: string) => boolean
  /** Whether the partition of this batch is far behind with its organisation. */
  isBehind: (type: string, batch: Placed) => boolean
  /** The lane for a batch whose order does not matter, where the partition that it would go to does not move. */
  wayAround: (type: string, batch: Placed) => number | undefined
  /** Milliseconds that an organisation's oldest batch of a type has been without a verdict. */
  lagOf: (type: string, orgId: string) => number
}

/** Every edge sees the same lag, however many edges there are, and one that has just started the lag that it found. `most` is how many milliseconds are far behind. */
export const createLag = (deps: {
  places: () => Places | undefined
  verdicts: Pick<Verdicts, 'lagAt' | 'lagOf' | 'expectedLagOf'>
  backlog: Pick<Backlog, 'lagAt'>
  most: number
}): Lag => {
  const { verdicts } = deps
  const placesOf = (type: string, orgId: string): string[] => {
    const places = deps.places()
    return places ? places.partitionsFor(type, orgId).map((partition) => places.placeOf(type, partition)) : []
  }
  const isFull = (place: string, orgId: string): boolean =>
    Math.max(verdicts.expectedLagOf(place, orgId), deps.backlog.lagAt(place)) >= deps.most

  return {
    // Asked for every request: as a rule the first partition tells.
    isLagging: (type, orgId) => {
      const places = deps.places()
      if (!places) return false
      const isBehind = (partition: number) => isFull(places.placeOf(type, partition), orgId)
      return places.partitionsFor(type, orgId).every(isBehind)
    },
    isPartlyLagging: (type, orgId) => placesOf(type, orgId).some((place) => isFull(place, orgId)),
    isBehind: (type, batch) => {
      const places = deps.places()
      return places !== undefined && isFull(places.placeOf(type, places.partitionFor(type, batch)), batch.org_id)
    },
    wayAround: (type, batch) => {
      const places = deps.places()
      if (!places) return undefined
      const lagAt = (partition: number): number => {
        const place = places.placeOf(type, partition)
        return Math.max(verdicts.lagAt(place), deps.backlog.lagAt(place))
      }
      const usual = places.partitionFor(type, batch)
      if (lagAt(usual) < soon) return undefined
      const all = places.partitionsFor(type, batch.org_id)
      const least = Math.min(...all.map(lagAt))
      // Where all are slow, all have their share.
      const moving = all.filter((partition) => lagAt(partition) < least + soon)
      return moving.includes(usual) ? undefined : moving[partitionOf(batch.batch_id, moving.length)]
    },
    lagOf: (type, orgId) => Math.max(0, ...placesOf(type, orgId).map((place) => verdicts.lagOf(place, orgId))),
  }
}

/**
 * Takes nothing in for a type of an organisation while integrity is far behind with it, or will be. Batches count until they are
 * decided, also when their requests were answered "outcome unknown": else each retry would add to what integrity cannot keep up with.
 * Other types and organisations go on, and so do the other lanes of this one.
 */
export const addLagShedding = (
  app: FastifyInstance,
  deps: { lag: Pick<Lag, 'isLagging'>; figures: Pick<EdgeFigures, 'shed'> },
): void => {
  app.addHook('onRequest', async (request, reply) => {
    const type = request.method === 'POST' ? request.routeOptions.config.takesIn : undefined
    if (type === undefined || !deps.lag.isLagging(type, callerOf(request).orgId)) return undefined
    deps.figures.shed.inc({ reason: 'lag' })
    return sendError(reply, lagging)
  })
}
