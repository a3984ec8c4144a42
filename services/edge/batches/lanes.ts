import { laneOf } from '#platform/kafka/partitions.js'
import { type BatchLimits, cut } from './batches.js'
import type { Entry } from './entries.js'

/** A request's records in slices, and the index in the request of the n-th record in the order of the slices. */
export type LaneCut = { slices: Entry[][]; placeAt: (n: number) => number }

/** Cuts a request by lane first, then by size: one lane's records in the order of the request, then the next lane's. */
export const cutByLane = (
  entries: readonly Entry[],
  limits: BatchLimits,
  { lanes, idField }: { lanes: number; idField: string },
): LaneCut => {
  if (lanes === 1) return { slices: cut(entries, limits), placeAt: (n) => n }
  const byLane = Array.from({ length: lanes }, (): number[] => [])
  entries.forEach((entry, place) => void byLane[laneOf(idIn(entry, idField), lanes)]?.push(place))
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

const idIn = (entry: Entry, idField: string): string | null =>
  'values' in entry ? String(entry.values[idField]) : entry.refusal.id
