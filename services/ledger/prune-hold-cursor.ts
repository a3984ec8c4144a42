import type { Connection } from '#platform/postgres/postgres.js'

/** Holds the partition's cursor until the transaction ends; false where there is none, which is left so. */
export const holdCursor = async (connection: Connection, topic: string, partition: number): Promise<boolean> => {
  const { rowCount } = await connection.query({
    name: 'hold-cursor',
    text: `select from integrity.cursors where topic = $1 and partition = $2 for update`,
    values: [topic, partition],
  })
  return rowCount === 1
}
