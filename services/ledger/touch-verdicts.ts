import type { Connection } from '#platform/postgres/postgres.js'

/** Notes that these batches came again: their verdicts are kept from now on. */
export const touchVerdicts = async (
  connection: Connection,
  batchIds: readonly string[],
  now: number,
): Promise<void> => {
  await connection.query({
    name: 'touch-verdicts',
    text: `update integrity.verdicts set repeated_at = $2 where batch_id = any ($1::uuid[])`,
    values: [batchIds, new Date(now)],
  })
}
