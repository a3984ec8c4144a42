import { Unavailable } from '#http/request-error.js'
import type { DecidedRequest, KeyedInteraction } from '#ledger/keyed-interactions.js'
import type { NotedRequest } from '#ledger/requests.js'
import type { Wait } from '#ledger/waiting/look-up.js'
import type { VerdictEvent } from '#schemas/events.js'
import { presentOf } from '../../../../services/edge/requests/present.js'
import type { VerdictStore } from '../../../../services/edge/requests/verdict-store.js'

export type FakeVerdictStore = VerdictStore & {
  verdicts: VerdictEvent[]
  /** By their id. */
  requests: Map<string, NotedRequest>
  /** By `org/id`. */
  keyed: Map<string, KeyedInteraction>
  /** Where the verdicts on keyed interactions are, in the order in which they were decided. */
  keyedRequests: DecidedRequest[]
  /** Records that wait or waited. */
  waits: Wait[]
  isAway: boolean
}

export const createFakeVerdictStore = (): FakeVerdictStore => {
  const whenThere = <T>(value: T): T => {
    if (store.isAway) throw new Unavailable('Postgres is away')
    return value
  }
  const isOwn = (orgId: string, requestId: string) => (one: { org_id: string; request_id: string }) =>
    one.org_id === orgId && one.request_id === requestId
  const save = (request: NotedRequest): string[] => {
    const before = store.requests.get(request.requestId)
    if (before && !isSameRequest(before, request)) return []
    const written = before && isAllWritten(before, request) ? before.written : request.written
    store.requests.set(request.requestId, { ...request, written })
    return [request.requestId]
  }
  const store: FakeVerdictStore = {
    verdicts: [],
    requests: new Map(),
    keyed: new Map(),
    keyedRequests: [],
    waits: [],
    isAway: false,
    ofBatches: async (ids) => whenThere(store.verdicts.filter(({ batch_id }) => ids.includes(batch_id))),
    ofRequest: async (orgId, requestId) => {
      const noted = store.requests.get(requestId)
      const verdicts = store.verdicts.filter(isOwn(orgId, requestId))
      return whenThere({
        // They are in the order in which they were decided: the first body is the request.
        verdicts: verdicts
          .filter(({ body_sha256 }) => verdicts[0]?.body_sha256.equals(body_sha256))
          .sort((a, b) => a.batches - b.batches || a.batch - b.batch)
          .map((verdict) => presentOf(verdict, store.waits)),
        noted: noted?.orgId === orgId ? noted : undefined,
      })
    },
    ofKeyedRequest: async (orgId, requestId) => {
      const found = whenThere(store.keyedRequests).flatMap((each) => {
        const verdict = store.verdicts.find(({ org_id, batch_id }) => org_id === orgId && batch_id === each.batchId)
        return verdict && each.requestId === requestId ? [{ ...each, verdict }] : []
      })
      const counts = found.find(({ isAccepted }) => isAccepted) ?? found.at(-1)
      return counts && { verdict: presentOf(counts.verdict, store.waits), place: counts.place }
    },
    saveRequests: async (requests) => new Set(whenThere(requests).flatMap(save)),
    keyedInteraction: async (orgId, id) => whenThere(store.keyed.get(`${orgId}/${id}`)),
  }
  return store
}

const isSameRequest = (before: NotedRequest, request: NotedRequest): boolean =>
  before.orgId === request.orgId && before.bodySha256.equals(request.bodySha256)

/** Whether all batches of this same cut are written. */
const isAllWritten = (before: NotedRequest, request: NotedRequest): boolean =>
  before.written === before.batchRecords.length && before.batchRecords.join() === request.batchRecords.join()
