import { laneOf } from '#platform/kafka/partitions.js'
import { batchIdOf } from '#schemas/uuid.js'
import type { BatchAnswer } from '../../support/system/uploader.js'
import { recordsInBatch } from '../stack/definitions.js'
import type { Ledger, ToldBatch } from './ledger.js'
import type { Planned } from './plan.js'

/** Where the records of each batch are in the request: one lane's after the other's, a few to a batch. */
export const cutOf = (records: readonly Planned[], lanes: number): number[][] => {
  const batches: number[][] = []
  for (let lane = 0; lane < lanes; lane++) {
    const places = records.flatMap(({ id }, place) => (laneOf(id, lanes) === lane ? [place] : []))
    for (let n = 0; n < places.length; n += recordsInBatch) batches.push(places.slice(n, n + recordsInBatch))
  }
  return batches
}

/**
 * Where the records of each batch of a request are, by batch id. While its lanes are changed a request may be cut by the old ones at its first
 * try, and what was not decided of it by the new ones when it is sent again: the ids of its batches tell.
 */
export const placesIn = (
  records: readonly Planned[],
  requestId: string,
  batchIds: readonly (string | null)[],
  lanesHad: readonly number[],
): Map<string, number[]> => {
  const told = new Set(batchIds)
  const found = new Map<string, number[]>()
  const note = (places: readonly number[], lanes: number, idsFrom: number): void => {
    const some = places.flatMap((place) => records[place] ?? [])
    let before = idsFrom
    for (const batch of cutOf(some, lanes)) {
      const id = batchIdOf(requestId, before, batch.length, lanes)
      before += batch.length
      if (told.has(id) && !found.has(id))
        found.set(
          id,
          batch.map((n) => places[n] ?? -1),
        )
    }
  }
  const all = records.map((_, place) => place)
  for (const lanes of lanesHad) note(all, lanes, 0)
  const known = new Set([...found.values()].flat())
  const rest = all.filter((place) => !known.has(place))
  for (const lanes of lanesHad) note(rest, lanes, records.length)
  return found
}

/** The answer about a batch as it was when the batch was decided: a later answer shows records that waited then as accepted or refused. */
export const toTold = ({ batch, status, data }: BatchAnswer, places: ReadonlyMap<string, number[]>): ToldBatch => {
  const { errors = [], waiting = [], waited = [] } = data
  const inVain = new Set(waited.filter(({ state }) => state === 'refused').map(({ index }) => index))
  return {
    batchId: data.batch_id,
    batch,
    status: waited.length > 0 ? inPart : status,
    places: places.get(data.batch_id) ?? [],
    refused: errors
      .filter(({ index }) => !inVain.has(index))
      .map(({ index, problems }) => ({ index, codes: problems.map(({ code }) => code) })),
    waited: [...waiting, ...waited].map(({ index }) => index).sort((a, b) => a - b),
  }
}

// Of a batch in which something waits.
const inPart = 207

export const isDecided = ({ status }: Pick<ToldBatch, 'status'>): boolean => [200, 207, 400].includes(status)

export const noteTelling = ({ tellings }: Ledger, { batchId, status, refused, waited }: ToldBatch): void => {
  const told = tellings.get(batchId) ?? new Set()
  tellings.set(batchId, told.add(JSON.stringify({ status, refused, waited })))
}
