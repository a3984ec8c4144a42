import { laneOf } from '#platform/kafka/partitions.js'
import { createIdOf } from '#schemas/derive/submitted/batch-bytes.js'
import type { RecordType } from '#schemas/record.js'
import { type BatchLimits, cut } from './batches.js'
import type { Entry } from './entries.js'

/** A request's records in slices, and the index in the request of the n-th record in the order of the slices. */
export type LaneCut = { slices: Entry[][]; placeAt: (n: number) => number }

/** Cuts a request by lane first, then by size: one lane's records in the order of the request, then the next lane's. */
export const createCutByLane = (
  type: RecordType,
): ((entries: readonly Entry[], limits: BatchLimits, lanes: number) => LaneCut) => {
  const readId = createIdOf(type)
  const idIn = (entry: Entry): string | null => ('refusal' in entry ? entry.refusal.id : readId(entry))

  return (entries, limits, lanes) => {
    if (lanes === 1) return { slices: cut(entries, limits), placeAt: (n) => n }
    const byLane = Array.from({ length: lanes }, (): number[] => [])
    entries.forEach((entry, place) => void byLane[laneOf(idIn(entry), lanes)]?.push(place))
    const places = byLane.flat()
    return {
      slices: byLane.flatMap((lane) =>
        cut(
          lane.flatMap((place) => entries[place] ?? []),
          limits,
        ),
      ),
      placeAt: (n) => places[n] ?? 0,
    }
  }
}
