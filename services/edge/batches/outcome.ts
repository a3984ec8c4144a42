import type { OutgoingBatch } from '#schemas/byte-path/byte-path.js'
import type { PresentVerdict } from '../requests/present.js'

/**
 * What became of a batch. `no verdict yet`: Kafka has it. `not published`: Kafka is not known to have it. `held back`: it was not
 * sent, because integrity is far behind with its lane.
 */
export type BatchOutcome = { verdict: PresentVerdict } | { unknown: 'no verdict yet' | 'not published' | 'held back' }

/** A batch of a request, by its number. `pending`: the request does not wait for the verdict. The id is null where unknown. */
export type BatchResult = { batch: number; batchId: string | null; outcome: BatchOutcome | 'pending' }

/** Publishes batches of one request and waits for their verdicts: an outcome for each, in the same order. */
export type Submit = (
  type: string,
  batches: readonly OutgoingBatch[],
  options?: SubmitOptions,
) => Promise<BatchOutcome[]>

export type SubmitOptions = {
  /** Milliseconds that verdicts are waited for, but at least until the batches are written; else until the time-out. */
  patience?: number | undefined
  /** Called once with how many batches, from the first on, are known to be written; maybe long after the outcomes. */
  onWritten?: (batches: number) => void
  /** The trace that the batches belong to, where one is recorded. */
  traceparent?: string | undefined
}
