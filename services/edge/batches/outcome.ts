import type { OutgoingBatch } from '#schemas/byte-path/byte-path.js'
import type { PresentVerdict } from '../requests/present.js'

/**
 * What became of a batch that was submitted. `no verdict yet`: Kafka has the batch, and integrity will decide it.
 * `not published`: Kafka is not known to have it.
 */
export type BatchOutcome = { verdict: PresentVerdict } | { unknown: 'no verdict yet' | 'not published' }

/**
 * One batch of a request, by its number, and what became of it. `pending`: the verdict is still to come, and the
 * request does not wait for it. The id is null for a batch that is known only because verdicts on its neighbours count
 * it.
 */
export type BatchResult = { batch: number; batchId: string | null; outcome: BatchOutcome | 'pending' }

/** Publishes batches of one request and waits for their verdicts: an outcome for each, in the same order. */
export type Submit = (
  type: string,
  batches: readonly OutgoingBatch[],
  options?: SubmitOptions,
) => Promise<BatchOutcome[]>

export type SubmitOptions = {
  /**
   * Milliseconds after the call that verdicts are waited for, but at least until the batches are written; without it,
   * until the time-out.
   */
  patience?: number | undefined
  /** Called once with how many batches, from the first on, are known to be written; maybe long after the outcomes. */
  onWritten?: (batches: number) => void
}
