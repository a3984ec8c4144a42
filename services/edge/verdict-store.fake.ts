import type { VerdictEvent } from '#schemas/events.js'
import { Unavailable } from './request-error.js'
import type { KeyedInteraction } from './sql/find-keyed-interaction.js'
import type { VerdictStore } from './verdict-store.js'

export type FakeVerdictStore = VerdictStore & {
  verdicts: VerdictEvent[]
  /** By `org/id`. */
  keyed: Map<string, KeyedInteraction>
  isAway: boolean
}

export const createFakeVerdictStore = (): FakeVerdictStore => {
  const whenThere = <T>(value: T): T => {
    if (store.isAway) throw new Unavailable('the stored verdicts cannot be read at the moment')
    return value
  }
  const store: FakeVerdictStore = {
    verdicts: [],
    keyed: new Map(),
    isAway: false,
    ofBatches: async (ids) => whenThere(store.verdicts.filter(({ batch_id }) => ids.includes(batch_id))),
    ofRequest: async (orgId, requestId) =>
      whenThere(store.verdicts.filter(({ org_id, request_id }) => org_id === orgId && request_id === requestId)),
    keyedInteraction: async (orgId, id) => whenThere(store.keyed.get(`${orgId}/${id}`)),
  }
  return store
}
