import type { VerdictEvent } from '#schemas/events.js'

/**
 * What became of a batch that was submitted. `no verdict yet`: Kafka has the batch, and integrity will decide it.
 * `not published`: Kafka is not known to have it.
 */
export type BatchOutcome = { verdict: VerdictEvent } | { unknown: 'no verdict yet' | 'not published' }

/**
 * One batch of a request, by its number, and what became of it. `pending`: the verdict is still to come, and the
 * request does not wait for it. The id is null where other batches of the request are decided and nothing else is known.
 */
export type BatchResult = { batch: number; batchId: string | null; outcome: BatchOutcome | 'pending' }
