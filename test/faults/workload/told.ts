import { laneOf } from '#platform/kafka/partitions.js'
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

/** The answer about a batch as it was when the batch was decided: a later answer shows records that waited then as accepted or refused. */
export const toTold = ({ batch, status, data }: BatchAnswer, cut: readonly number[][]): ToldBatch => {
  const { errors = [], waiting = [], waited = [] } = data
  const inVain = new Set(waited.filter(({ state }) => state === 'refused').map(({ index }) => index))
  return {
    batchId: data.batch_id,
    batch,
    status: waited.length > 0 ? inPart : status,
    places: cut[batch - 1] ?? [],
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
