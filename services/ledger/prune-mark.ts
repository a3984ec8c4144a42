import type { Connection } from '#platform/postgres/postgres.js'

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
