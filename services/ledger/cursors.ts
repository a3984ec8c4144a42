import type { Connection, Pool } from '#platform/postgres/postgres.js'
import { rowsOf } from '#platform/postgres/rows.js'
import type { AcceptedLoss } from './fence.js'

// integrity.cursors: up to where each partition of the submitted log is decided. Locking a row is the fence: see fence.ts.
// integrity.accepted_losses: what lies below a cursor, was lost by Kafka, and is no longer missed.

/** Holds the partition's cursor until the transaction ends; undefined where nothing of the partition was ever decided. */
export const lockCursor = async (
  connection: Connection,
  topic: string,
  partition: number,
): Promise<number | undefined> => {
  const { rows } = await connection.query<{ next_offset: number | null }>({
    name: 'lock-cursor',
    text: `select next_offset from integrity.cursors where topic = $1 and partition = $2 for update`,
    values: [topic, partition],
  })
  if (rows[0]) return rows[0].next_offset ?? undefined
  // Two first-comers: the second one waits here for the first one's insert, and then finds the row.
  const { rowCount } = await connection.query(
    `insert into integrity.cursors (topic, partition, next_offset) values ($1, $2, 0) on conflict do nothing`,
    [topic, partition],
  )
  return rowCount === 1 ? undefined : lockCursor(connection, topic, partition)
}

export const moveCursor = async (
  connection: Connection,
  topic: string,
  partition: number,
  nextOffset: number,
): Promise<void> => {
  await connection.query({
    name: 'move-cursor',
    text: `update integrity.cursors set next_offset = $3 where topic = $1 and partition = $2`,
    values: [topic, partition, nextOffset],
  })
}

/** Up to where each partition of the submitted log is decided, by `topic/partition`. */
export const findCursors = async (pool: Pool): Promise<Map<string, number>> => {
  const { rows } = await pool.query<{ place: string; next_offset: number }>(
    `select topic || '/' || partition as place, next_offset from integrity.cursors`,
  )
  return new Map(rows.map(({ place, next_offset }) => [place, next_offset]))
}

/** Holds the partition's cursor until the transaction ends; false where there is none, which is left so. */
export const holdCursor = async (connection: Connection, topic: string, partition: number): Promise<boolean> => {
  const { rowCount } = await connection.query({
    name: 'hold-cursor',
    text: `select from integrity.cursors where topic = $1 and partition = $2 for update`,
    values: [topic, partition],
  })
  return rowCount === 1
}

/** Notes that verdicts of this partition are gone that were last used at this moment or before. */
export const markPruned = async (
  connection: Connection,
  topic: string,
  partition: number,
  lastUsed: Date,
): Promise<void> => {
  await connection.query({
    name: 'mark-pruned',
    text: `
      update integrity.cursors
      set pruned_before = greatest(pruned_before, $3::timestamptz + interval '1 millisecond')
      where topic = $1 and partition = $2`,
    values: [topic, partition, lastUsed],
  })
}

/** The moment before which verdicts of this partition may be gone; undefined where none was ever pruned. */
export const findPrunedBefore = async (
  connection: Connection | Pool,
  topic: string,
  partition: number,
): Promise<number | undefined> => {
  const { rows } = await connection.query<{ pruned_before: Date | null }>({
    name: 'find-pruned-before',
    text: `select pruned_before from integrity.cursors where topic = $1 and partition = $2`,
    values: [topic, partition],
  })
  return rows[0]?.pruned_before?.getTime()
}

/** The losses that operators have accepted in this partition. */
export const findAcceptedLosses = (
  connection: Connection | Pool,
  topic: string,
  partition: number,
): Promise<AcceptedLoss[]> =>
  rowsOf(connection, {
    name: 'find-accepted-losses',
    text: `
      select from_offset as "from", until_offset as "until"
      from integrity.accepted_losses
      where topic = $1 and partition = $2`,
    values: [topic, partition],
  })

export const insertAcceptedLoss = async (
  connection: Connection,
  topic: string,
  partition: number,
  { from, until }: AcceptedLoss,
): Promise<void> => {
  await connection.query(
    `insert into integrity.accepted_losses (topic, partition, from_offset, until_offset)
    values ($1, $2, $3, $4)
    on conflict (topic, partition, from_offset) do update
    set until_offset = greatest(accepted_losses.until_offset, excluded.until_offset)`,
    [topic, partition, from, until],
  )
}
