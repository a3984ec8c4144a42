import type { Pool } from '#platform/postgres.js'
import type { VerdictEvent } from '#schemas/events.js'
import { Unavailable } from './request-error.js'
import { findKeyedInteraction, type KeyedInteraction } from './sql/find-keyed-interaction.js'
import { findVerdictsOfBatches } from './sql/find-verdicts-of-batches.js'
import { findVerdictsOfRequest } from './sql/find-verdicts-of-request.js'

/** What integrity has decided, as Postgres keeps it. */
export type VerdictStore = {
  ofBatches: (batchIds: readonly string[]) => Promise<VerdictEvent[]>
  ofRequest: (orgId: string, requestId: string) => Promise<VerdictEvent[]>
  keyedInteraction: (orgId: string, interactionId: string) => Promise<KeyedInteraction | undefined>
}

export const createVerdictStore = (pool: Pool): VerdictStore => ({
  ofBatches: (batchIds) => findVerdictsOfBatches(pool, batchIds).catch(away),
  ofRequest: (orgId, requestId) => findVerdictsOfRequest(pool, orgId, requestId).catch(away),
  keyedInteraction: (orgId, id) => findKeyedInteraction(pool, orgId, id).catch(away),
})

const away = (cause: unknown): never => {
  throw new Unavailable('the stored verdicts cannot be read at the moment', { cause })
}
