import type { Connection, Pool } from '#platform/postgres/postgres.js'

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
