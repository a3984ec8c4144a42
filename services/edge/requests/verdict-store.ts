import {
  findKeyedInteraction,
  findKeyedRequest,
  type KeyedInteraction,
  type PlaceInVerdict,
} from '#ledger/keyed-interactions.js'
import { findRequest, type NotedRequest, type StoredRequest, saveRequests } from '#ledger/requests.js'
import { findVerdictsOfBatches } from '#ledger/verdicts.js'
import type { Pool } from '#platform/postgres/postgres.js'
import type { VerdictEvent } from '#schemas/events.js'
import { Unavailable } from '../http/request-error.js'

/** What Postgres keeps of requests: the verdicts of integrity, and until they are there the edge's own notes. */
export type VerdictStore = {
  ofBatches: (batchIds: readonly string[]) => Promise<VerdictEvent[]>
  ofRequest: (orgId: string, requestId: string) => Promise<StoredRequest>
  /** The verdict on a keyed interaction, by the request id that is derived from its key. */
  ofKeyedRequest: (orgId: string, requestId: string) => Promise<PlaceInVerdict | undefined>
  /** Resolves to the ids of the requests that were noted; the others came with a key that was used with another body. */
  saveRequests: (requests: readonly NotedRequest[]) => Promise<Set<string>>
  keyedInteraction: (orgId: string, interactionId: string) => Promise<KeyedInteraction | undefined>
}

export const createVerdictStore = (pool: Pool): VerdictStore => ({
  ofBatches: (batchIds) => findVerdictsOfBatches(pool, batchIds).catch(unreadable),
  ofRequest: (orgId, requestId) => findRequest(pool, orgId, requestId).catch(unreadable),
  ofKeyedRequest: (orgId, requestId) => findKeyedRequest(pool, orgId, requestId).catch(unreadable),
  saveRequests: (requests) =>
    saveRequests(pool, requests).catch((cause) => {
      throw new Unavailable('the request cannot be noted at the moment, so nothing of it was taken', { cause })
    }),
  keyedInteraction: (orgId, id) => findKeyedInteraction(pool, orgId, id).catch(unreadable),
})

const unreadable = (cause: unknown): never => {
  throw new Unavailable('the stored verdicts cannot be read at the moment', { cause })
}
