import { laneOf } from '#platform/kafka/partitions.js'
import { createIdOf } from '#schemas/byte-path/byte-path.js'
import type { RecordType } from '#schemas/record.js'
import { type BatchLimits, cut, type HowCut } from './batches.js'
import type { Entry } from './entries.js'

export type CutByLane = (
  entries: readonly Entry[],
  limits: BatchLimits,
  lanes: number,
) => HowCut & { slices: Entry[][] }

/** Cuts a request by lane first, then by size: one lane's records in the order of the request, then the next lane's. */
export const createCutByLane = (type: RecordType): CutByLane => {
  const readId = createIdOf(type)
  const idIn = (entry: Entry): string | null => ('refusal' in entry ? entry.refusal.id : readId(entry))

  return (entries, limits, lanes) => {
    if (lanes === 1) return { slices: cut(entries, limits), placeAt: (n) => n, laneAt: () => 0 }
    const byLane = Array.from({ length: lanes }, (): number[] => [])
    entries.forEach((entry, place) => void byLane[laneOf(idIn(entry), lanes)]?.push(place))
    const places = byLane.flat()
    const cuts = byLane.map((lane) => cut(entriesAt(entries, lane), limits))
    const laneOfSlice = cuts.flatMap((slices, lane) => slices.map(() => lane))
    return { slices: cuts.flat(), placeAt: (n) => places[n] ?? 0, laneAt: (n) => laneOfSlice[n] ?? 0 }
  }
}

const entriesAt = (entries: readonly Entry[], places: readonly number[]): Entry[] =>
  places.flatMap((place) => entries[place] ?? [])
