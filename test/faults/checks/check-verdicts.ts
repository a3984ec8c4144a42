import type { StoredVerdict } from '../observe/observed.js'
import type { ToldBatch } from '../workload/ledger.js'
import type { Check, Finding } from './finding.js'
import { groupBy } from './writes.js'

/** A batch has one verdict: what the client was told, what Postgres keeps, and every telling of it on the topic agree. */
export const checkVerdicts: Check = (ledger, observed) => {
  const told = new Map(ledger.uploads.flatMap(({ batches }) => batches).map((batch) => [batch.batchId, batch]))
  const stored = new Map(observed.verdicts.map((verdict) => [verdict.batch_id, verdict]))
  const tellings = groupBy(
    observed.topics.filter(({ topic }) => topic === 'weir.verdicts'),
    ({ value }) => String(value.batch_id),
  )
  return [
    ...[...told].flatMap(([batchId, batch]): Finding[] => {
      const verdict = stored.get(batchId)
      if (!verdict) return [{ name: 'no-verdict', about: `batch ${batchId} was answered, and has none` }]
      return sameAsTold(batch, verdict) ? [] : [{ name: 'verdict-disagrees', about: `batch ${batchId} and its answer` }]
    }),
    ...[...stored].flatMap(([batchId, verdict]): Finding[] => {
      const events = tellings.get(batchId) ?? []
      if (events.length === 0) return [{ name: 'verdict-not-told', about: `batch ${batchId} of ${verdict.type}` }]
      const texts = new Set(events.map(({ value }) => textOf(value as StoredVerdict)))
      const isSame =
        texts.size === 1 && texts.has(textOf(verdict)) && new Set(events.map(({ bytes }) => bytes)).size === 1
      return isSame
        ? []
        : [{ name: 'differing-verdicts', about: `batch ${batchId}: ${textOf(verdict)}; ${[...texts]}` }]
    }),
    ...[...tellings.keys()]
      .filter((batchId) => !stored.has(batchId))
      .map((batchId) => ({ name: 'verdict-not-stored', about: `batch ${batchId}` })),
    ...[...stored.values()]
      .filter((verdict) => verdict.type !== 'interactions' && !told.has(verdict.batch_id) && !isResume(verdict))
      .map(({ batch_id, type }) => ({ name: 'stranger-verdict', about: `batch ${batch_id} of ${type}` })),
  ]
}

/** Of records that waited and were decided anew: nobody was told of such a batch. */
export const isResume = ({ batch_id, request_id }: StoredVerdict): boolean => batch_id === request_id

const sameAsTold = ({ places, refused, waited }: ToldBatch, verdict: StoredVerdict): boolean =>
  verdict.accepted === places.length - refused.length - waited.length &&
  String(waited) === String((verdict.waiting ?? []).map(({ index }) => verdict.first_index + index)) &&
  JSON.stringify(refused) === JSON.stringify(refusedOf(verdict, verdict.first_index)) &&
  verdict.first_index === places[0]

type Decided = Pick<StoredVerdict, 'accepted' | 'refused'> & { waiting?: { index: number }[] | null }

const textOf = (verdict: Decided): string =>
  JSON.stringify({
    accepted: verdict.accepted,
    refused: refusedOf(verdict, 0),
    waiting: (verdict.waiting ?? []).map(({ index }) => index),
  })

const refusedOf = ({ refused }: Pick<StoredVerdict, 'refused'>, first: number): ToldBatch['refused'] =>
  refused.map(({ index, problems }) => ({ index: first + index, codes: problems.map(({ code }) => code) }))
