import { Unavailable } from '#http/request-error.js'
import { findKeyedInteraction, findKeyedRequest, type PlaceInVerdict } from '#ledger/keyed-interactions.js'
import { findRequest, type NotedRequest, type StoredRequest, saveRequests } from '#ledger/requests.js'
import { findVerdictsOfBatches } from '#ledger/verdicts.js'
import { findWaitsOfBatches } from '#ledger/waiting/look-up.js'
import type { Pool } from '#platform/postgres/postgres.js'
import type { VerdictEvent } from '#schemas/events.js'
import { hasWaits, type PresentVerdict, presentOf } from './present.js'

/** What is known of a request, with what became of its records that waited. */
export type KnownRequest = Omit<StoredRequest, 'verdicts'> & { verdicts: PresentVerdict[] }

/** What Postgres keeps of requests: the verdicts of integrity, and until they are there the edge's own notes. */
export type VerdictStore = ReturnType<typeof createVerdictStore>

export const createVerdictStore = (pool: Pool) => {
  // Asked for only where something waits, or waited: most requests cost no question more than they did.
  const asOfNow = async (verdicts: readonly VerdictEvent[]): Promise<PresentVerdict[]> => {
    const batchIds = verdicts.filter(hasWaits).map(({ batch_id }) => batch_id)
    const waits = batchIds.length === 0 ? [] : await findWaitsOfBatches(pool, batchIds)
    return verdicts.map((verdict) => presentOf(verdict, waits))
  }
  const ofRequest = async (orgId: string, requestId: string): Promise<KnownRequest> => {
    const { verdicts, noted } = await findRequest(pool, orgId, requestId)
    return { verdicts: await asOfNow(verdicts), noted }
  }
  const ofKeyedRequest = async (orgId: string, requestId: string): Promise<PresentPlace | undefined> => {
    const found = await findKeyedRequest(pool, orgId, requestId)
    const [verdict] = found ? await asOfNow([found.verdict]) : []
    return found && verdict && { verdict, place: found.place }
  }
  return {
    ofBatches: (batchIds: readonly string[]) => findVerdictsOfBatches(pool, batchIds).catch(unreadable),
    /** As things stand now, like the next one. */
    ofRequest: (orgId: string, requestId: string) => ofRequest(orgId, requestId).catch(unreadable),
    /** The verdict on a keyed interaction, by the request id that is derived from its key. */
    ofKeyedRequest: (orgId: string, requestId: string) => ofKeyedRequest(orgId, requestId).catch(unreadable),
    /** Resolves to the ids of the requests that were noted; the others came with a key that was used with another body. */
    saveRequests: (requests: readonly NotedRequest[]) =>
      saveRequests(pool, requests).catch((cause) => {
        throw new Unavailable('the request cannot be noted at the moment, so nothing of it was taken', { cause })
      }),
    keyedInteraction: (orgId: string, id: string) => findKeyedInteraction(pool, orgId, id).catch(unreadable),
  }
}

type PresentPlace = PlaceInVerdict & { verdict: PresentVerdict }

const unreadable = (cause: unknown): never => {
  throw new Unavailable('the stored verdicts cannot be read at the moment', { cause })
}
