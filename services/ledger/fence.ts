import { placeOf } from '#platform/kafka/partitions.js'
import type { SubmittedBatch } from '#schemas/events.js'
import type { RecordType } from '#schemas/record.js'
import { isTheOneDecided, type StoredVerdict } from './verdicts.js'

// What the cursor and the stored verdicts say about a fetch: which batches are new, which were decided before, and when to
// stop because the log and Postgres do not fit together. Pure, so that the model in test/model runs this very code.

/** `timestamp` is the message's own, which Kafka keeps. */
export type Submitted = { offset: number; timestamp: number; batch: SubmittedBatch }
/** The offsets of a partition that a fetch covers, from `first` up to but without `next`; unreadable messages count too. */
export type Span = {
  topic: string
  partition: number
  type: RecordType
  isReferenced: boolean
  /** How many lanes an organisation has; one where this is not said. With more, a request's batches are in several partitions. */
  lanes?: number
  first: number
  next: number
  /** The batch just before `first`, where the fetch is the partition's first one. */
  before?: Submitted | undefined
}

/**
 * What is known of a partition: it is decided up to `next`; verdicts that were last used before `prunedBefore` may be gone, and none at or
 * beyond the offset `prunedUntil` is; up to `overtakenUntil` an integrity decided that knew nothing of waiting; up to `forgottenUntil` it
 * may have been decided by a Postgres that knew more.
 */
export type LockedCursor = {
  next: number
  prunedBefore: number | undefined
  prunedUntil: number
  overtakenUntil: number
  forgottenUntil: number
}

/** A message of the submitted log with the verdict on its batch. */
export type Decided<One extends Submitted = Submitted> = One & {
  verdict: StoredVerdict
  /** False for a repeat of a batch that was decided before: only its verdict is published again. */
  isTheOneDecided: boolean
}

const whatToDo = 'Kafka has lost what was there: see "When a part forgets" in docs/operations.md'

/** A gap between the cursor and a fetch. Our producers leave no gaps, so a missing offset is a batch that was lost. */
export class Hole extends Error {
  readonly place: string
  readonly cursor: number
  readonly first: number
  constructor(at: Span, cursor: number) {
    const place = placeOf(at)
    super(`${place}: offsets ${cursor} to ${at.first - 1} are missing from the log. ${whatToDo}`)
    this.place = place
    this.cursor = cursor
    this.first = at.first
  }
}

/** Stops at a gap between the cursor and the fetch. */
export const refuseHole = (at: Span, cursor: number | undefined): void => {
  if (cursor !== undefined && at.first > cursor) throw new Hole(at, cursor)
}

/** What such a gap means, once it is known where the log begins: where Kafka still has those batches, Postgres has lost them. */
export const explainHole = (hole: Hole, logStart: number): Error => {
  if (logStart > hole.cursor) return hole
  return new Error(
    `${hole.place}: offsets ${hole.cursor} to ${hole.first - 1} are in the log and were published, and Postgres knows nothing ` +
      'of them. Postgres went back to an earlier state: see "When a part forgets" in docs/operations.md',
  )
}

/**
 * Stops where the message before a partition's first fetch is not the one that was decided: the log was cut and has grown again,
 * so that what lies below the cursor now was never decided. `decidedThere` is the batch that was decided at that offset, where
 * that is known.
 */
export const refuseCutLog = (
  at: Span,
  decidedThere: string | undefined,
  verdicts: ReadonlyMap<string, StoredVerdict>,
  prunedBefore: number | undefined,
): void => {
  const { before } = at
  if (!before || isTheDecided(before, decidedThere, verdicts, prunedBefore)) return
  const { batch_id: id } = before.batch
  throw new Error(
    `${placeOf(at)}: offset ${before.offset} holds the batch ${id}, and another one was decided there: ` +
      `the log was cut and has grown again. ${whatToDo}`,
  )
}

/** Whether a batch below the cursor can be the one that was decided there. */
export const isTheDecided = (
  one: Submitted,
  decidedThere: string | undefined,
  verdicts: ReadonlyMap<string, StoredVerdict>,
  prunedBefore: number | undefined,
): boolean => {
  const { batch_id: id } = one.batch
  const isDecided = verdicts.has(id) || isForgotten(one, verdicts, prunedBefore)
  return isDecided && (decidedThere ?? id) === id
}

/** Offsets of a partition, from `from` up to but without `until`, whose loss an operator has accepted. */
export type AcceptedLoss = { from: number; until: number }

export const isAcceptedLoss = ({ offset }: { offset: number }, losses: readonly AcceptedLoss[]): boolean =>
  losses.some(({ from, until }) => offset >= from && offset < until)

/** The messages at or beyond the cursor whose batch has no verdict yet, each batch once. */
export const freshOnes = <One extends Submitted>(
  submitted: readonly One[],
  cursor: number,
  verdicts: ReadonlyMap<string, StoredVerdict>,
): One[] => {
  const seen = new Set<string>()
  return submitted.filter(({ offset, batch: { batch_id } }) => {
    const isNew = offset >= cursor && !verdicts.has(batch_id) && !seen.has(batch_id)
    seen.add(batch_id)
    return isNew
  })
}

// How far the clocks of the edge and of integrity may differ: a verdict can seem older than its batch.
const clockSkew = 60_000

/** Whether a batch below the cursor lacks its verdict because that was pruned. Any other such batch was never decided. */
export const isForgotten = (
  { batch, timestamp }: Submitted,
  verdicts: ReadonlyMap<string, StoredVerdict>,
  prunedBefore: number | undefined,
): boolean => !verdicts.has(batch.batch_id) && prunedBefore !== undefined && timestamp < prunedBefore + clockSkew

/**
 * Whether a batch was decided long ago and nothing is published of it any more: its verdict is pruned, its loss was accepted, or it
 * lies below a batch whose verdict is pruned. Its own may be kept for longer, because something of it waited or it came again; but its
 * events, published once more, would come after newer ones of the same records that cannot be made any more.
 */
export const isPassedOver = (
  at: Pick<Span, 'topic' | 'partition'>,
  one: Submitted,
  verdicts: ReadonlyMap<string, StoredVerdict>,
  cursor: LockedCursor | undefined,
  losses: readonly AcceptedLoss[],
): boolean => {
  const { offset, batch } = one
  const verdict = verdicts.get(batch.batch_id)
  if (!verdict) return isForgotten(one, verdicts, cursor?.prunedBefore) || isAcceptedLoss(one, losses)
  const isOld = cursor !== undefined && offset < cursor.next && offset < cursor.prunedUntil
  return isOld && isTheOneDecided(verdict, { ...at, offset })
}

/** A message with the verdict on its batch; throws where a batch below the cursor has none. */
export const toDecided = <One extends Submitted>(
  at: Span,
  one: One,
  verdicts: ReadonlyMap<string, StoredVerdict>,
): Decided<One> => {
  const verdict = verdicts.get(one.batch.batch_id)
  if (!verdict) {
    throw new Error(`${placeOf(at)}: offset ${one.offset} lies below the cursor, but has no verdict. ${whatToDo}`)
  }
  return { ...one, verdict, isTheOneDecided: isTheOneDecided(verdict, { ...at, offset: one.offset }) }
}
