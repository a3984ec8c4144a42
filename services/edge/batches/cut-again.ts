import { batchIdsOf } from '#ledger/requests.js'
import type { OutgoingBatch } from '#schemas/byte-path/byte-path.js'
import type { Layout } from '#schemas/derive/topics.js'
import { type BatchLimits, type RequestFacts, toBatches } from './batches.js'
import type { Entry } from './entries.js'
import type { CutByLane } from './lanes.js'

/** A layout that requests are cut by, and what was before it. */
export type CutLayout = Layout & {
  /** Other numbers of lanes that the system had before, the last one first. */
  earlierLanes?: readonly number[]
  /** Whether everything is decided that was sent while it had those. */
  isDecidedBefore?: boolean
}

/** The answer to uploads that come while "weir lanes change" is at work. */
export const changing = 'the lanes of this system are being changed; try again in a second; retrying is safe'

/**
 * The batches of a request that is sent again after the lanes were changed, where some of it was decided before: these as they were cut
 * then, and the rest by the lanes of now. Undefined where nothing of it was; the records are left as they are then.
 */
export const cutAgain = (
  cutByLane: CutByLane,
  entries: readonly Entry[],
  facts: RequestFacts & { lanes: number },
  { limits, earlierLanes }: { limits: BatchLimits; earlierLanes: readonly number[] },
  decided: ReadonlySet<string>,
): OutgoingBatch[] | undefined => {
  for (const lanes of earlierLanes) {
    const old = cutByLane(entries, limits, lanes)
    const batchRecords = old.slices.map(({ length }) => length)
    const ids = batchIdsOf({ requestId: facts.requestId, batchRecords, lanes })
    if (!ids.some((id) => decided.has(id))) continue

    const kept = toBatches(old.slices, { ...facts, lanes }, old).filter(({ batch_id }) => decided.has(batch_id))
    const isKept = new Set(old.slices.filter((_, i) => decided.has(ids[i] ?? '')).flat())
    const places = entries.flatMap((entry, place) => (isKept.has(entry) ? [] : [place]))
    const left = entries.filter((entry) => !isKept.has(entry))
    const rest = cutByLane(left, limits, facts.lanes)
    const placeAt = (n: number): number => places[rest.placeAt(n)] ?? 0
    // With ids of their own: a batch of all records, cut by these lanes, may begin at the same place and be as long.
    const cut = toBatches(rest.slices, { ...facts, idsFrom: entries.length }, { ...rest, placeAt })
    const batches = kept.length + cut.length
    return [...kept, ...cut].map((batch, i) => ({ ...batch, batch: i + 1, batches }))
  }
  return undefined
}
