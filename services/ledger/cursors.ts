import type { Committed } from '#platform/kafka/committed-offsets.js'
import { countedFrom, placeOf, type TopicPartition } from '#platform/kafka/partitions.js'
import type { Connection, Pool } from '#platform/postgres/postgres.js'
import { changedBy, type Database, firstRow, rowsOf, timeNow } from '#platform/postgres/rows.js'
import type { AcceptedLoss, LockedCursor } from './fence.js'

// integrity.cursors: up to where each partition of the submitted log is decided. Locking a row is the fence: see fence.ts.
// integrity.accepted_losses: what lies below a cursor, was lost by Kafka, and is no longer missed.

/** A cursor that is held until the transaction ends, and when it was locked. */
export type HeldCursor = LockedCursor & { lockedAt: number }

/** Holds the partition's cursor until the transaction ends, and tells the time; undefined where there is none yet. */
export const findCursor = async (connection: Connection, at: TopicPartition): Promise<HeldCursor | undefined> => {
  type Row = Omit<LockedCursor, 'prunedBefore'> & { prunedBefore: Date | null; lockedAt: number }
  const found = await firstRow<Row>(connection, {
    name: 'lock-cursor',
    text: `
      select next_offset as next, pruned_before as "prunedBefore", pruned_until as "prunedUntil",
        overtaken_until as "overtakenUntil", forgotten_until as "forgottenUntil", ${timeNow} as "lockedAt"
      from integrity.cursors
      where topic = $1 and partition = $2
      for update`,
    values: [at.topic, at.partition],
  })
  return found && { ...found, prunedBefore: found.prunedBefore?.getTime() }
}

/** Waits until every decision that is being taken is taken: each holds its cursor. */
export const awaitDecisions = (connection: Connection): Promise<unknown> =>
  connection.query('select from integrity.cursors order by topic, partition for update')

/** The same of a partition that may have none: undefined where nothing of it was ever decided, and it is held all the same. */
export const lockCursor = async (connection: Connection, at: TopicPartition): Promise<HeldCursor | undefined> => {
  const found = await findCursor(connection, at)
  if (found) return found
  // Two first-comers: the second one waits here for the first one's insert, and then finds the row.
  const inserted = await changedBy(
    connection,
    `insert into integrity.cursors (topic, partition, next_offset) values ($1, $2, 0) on conflict do nothing`,
    [at.topic, at.partition],
  )
  return inserted === 1 ? undefined : lockCursor(connection, at)
}

/** Moves the cursor behind a fetch, and notes whether that is one that was decided before. */
export const moveCursor = (
  connection: Connection,
  at: TopicPartition,
  { next, replayedFrom }: { next: number; replayedFrom: number | null },
): Promise<number> =>
  changedBy(connection, {
    name: 'move-cursor',
    text: `update integrity.cursors set next_offset = $3, replayed_from = $4 where topic = $1 and partition = $2`,
    values: [at.topic, at.partition, next, replayedFrom],
  })

/** Up to where each partition of the submitted log is decided, by `topic/partition`. */
export const findCursors = async (pool: Pool): Promise<Map<string, number>> => {
  const { rows } = await pool.query<{ place: string; next_offset: number }>(
    `select topic || '/' || partition as place, next_offset from integrity.cursors`,
  )
  return new Map(rows.map(({ place, next_offset }) => [place, next_offset]))
}

/**
 * Up to where a partition, which begins at `first`, is decided; undefined where Postgres knows of no partition at all: then it was emptied
 * on purpose, and begins where Kafka's groups are. Where it knows others, nothing of this one is decided, or it was forgotten.
 */
export const decidedUntil = (
  cursors: ReadonlyMap<string, number>,
  at: TopicPartition,
  first: number,
): number | undefined => cursors.get(placeOf(at)) ?? (cursors.size > 0 ? first : undefined)

/** A partition of which more was published than Postgres knows. */
export type Forgotten = { place: string; known: number; published: number }

/** What the group has committed was decided before, and published: a cursor below it has been forgotten. */
export const forgottenOf = (
  committed: readonly Committed[],
  cursors: ReadonlyMap<string, number>,
): readonly Forgotten[] =>
  committed.flatMap((each) => {
    const known = decidedUntil(cursors, each, countedFrom(each.topic))
    return known !== undefined && known < each.offset ? [{ place: placeOf(each), known, published: each.offset }] : []
  })

/** Holds the partition's cursor until the transaction ends; undefined where there is none, which is left so. */
export const holdCursor = (
  connection: Connection,
  at: TopicPartition,
): Promise<{ replayedFrom: number | null } | undefined> =>
  firstRow(connection, {
    name: 'hold-cursor',
    text: `
      select replayed_from as "replayedFrom" from integrity.cursors where topic = $1 and partition = $2 for update`,
    values: [at.topic, at.partition],
  })

/** Notes that verdicts of this partition are gone that were last used at this moment or before. */
export const markPruned = (connection: Connection, at: TopicPartition, lastUsed: Date): Promise<number> =>
  changedBy(connection, {
    name: 'mark-pruned',
    text: `
      update integrity.cursors
      set pruned_before = greatest(pruned_before, $3::timestamptz + interval '1 millisecond')
      where topic = $1 and partition = $2`,
    values: [at.topic, at.partition, lastUsed],
  })

/** The moment before which verdicts of this partition may be gone; undefined where none was ever pruned. */
export const findPrunedBefore = async (db: Database, at: TopicPartition): Promise<number | undefined> => {
  const found = await firstRow<{ pruned_before: Date | null }>(db, {
    name: 'find-pruned-before',
    text: `select pruned_before from integrity.cursors where topic = $1 and partition = $2`,
    values: [at.topic, at.partition],
  })
  return found?.pruned_before?.getTime()
}

/** The losses that operators have accepted in this partition. */
export const findAcceptedLosses = (db: Database, at: TopicPartition): Promise<AcceptedLoss[]> =>
  rowsOf(db, {
    name: 'find-accepted-losses',
    text: `
      select from_offset as "from", until_offset as "until"
      from integrity.accepted_losses
      where topic = $1 and partition = $2`,
    values: [at.topic, at.partition],
  })

export const insertAcceptedLoss = (connection: Connection, loss: TopicPartition & AcceptedLoss): Promise<number> =>
  changedBy(
    connection,
    `insert into integrity.accepted_losses (topic, partition, from_offset, until_offset)
    values ($1, $2, $3, $4)
    on conflict (topic, partition, from_offset) do update
    set until_offset = greatest(accepted_losses.until_offset, excluded.until_offset)`,
    [loss.topic, loss.partition, loss.from, loss.until],
  )
