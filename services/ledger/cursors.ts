import type { Connection } from '#platform/postgres/postgres.js'

/** Holds the partition's cursor until the transaction ends; undefined where nothing of the partition was ever decided. */
export const lockCursor = async (
  connection: Connection,
  topic: string,
  partition: number,
): Promise<number | undefined> => {
  const { rows } = await connection.query<{ next_offset: number | null }>({
    name: 'lock-cursor',
    text: `
      select next_offset
      from integrity.cursors
      where topic = $1 and partition = $2
      for update`,
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
