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

export const toTold = ({ batch, status, data }: BatchAnswer, cut: readonly number[][]): ToldBatch => ({
  batchId: data.batch_id,
  batch,
  status,
  places: cut[batch - 1] ?? [],
  refused: (data.errors ?? []).map(({ index, problems }) => ({ index, codes: problems.map(({ code }) => code) })),
  // Told later, some of them wait no more.
  waited: [...(data.waiting ?? []), ...(data.waited ?? [])].map(({ index }) => index).sort((a, b) => a - b),
})

export const isDecided = ({ status }: Pick<ToldBatch, 'status'>): boolean => [200, 207, 400].includes(status)

export const noteTelling = ({ tellings }: Ledger, { batchId, status, refused, waited }: ToldBatch): void => {
  const told = tellings.get(batchId) ?? new Set()
  tellings.set(batchId, told.add(JSON.stringify({ status, refused, waited })))
}
