import type { VerdictEvent } from '#schemas/events.js'
import type { Part } from './answer.js'

/**
 * The batches of a request as far as they are decided. A keyed request sent again after BATCH_RECORDS was changed is cut
 * anew, so that verdicts of two cuts may be stored: the fuller one is told.
 */
export const partsOfStored = (verdicts: readonly VerdictEvent[]): Part[] => {
  const [fullest = []] = cutsOf(verdicts).sort((a, b) => missingFrom(a) - missingFrom(b))
  const found = new Map(fullest.map((verdict) => [verdict.batch, verdict]))
  return Array.from({ length: fullest[0]?.batches ?? 0 }, (_, i) => {
    const verdict = found.get(i + 1)
    return { batch: i + 1, batchId: verdict?.batch_id ?? null, outcome: verdict ? { verdict } : 'pending' }
  })
}

const cutsOf = (verdicts: readonly VerdictEvent[]): VerdictEvent[][] =>
  [...new Set(verdicts.map(({ batches }) => batches))].map((count) =>
    verdicts.filter(({ batches }) => batches === count),
  )

const missingFrom = (cut: readonly VerdictEvent[]): number => (cut[0]?.batches ?? 0) - cut.length
