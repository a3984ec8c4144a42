import type { Connection } from '#platform/postgres/postgres.js'

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
