import type { Pool } from '#platform/postgres/postgres.js'

/** Where a batch lies in the submitted log, and the API key that it was sent with; null where that is not known. */
export type BatchOrigin = { topic: string; partition: number; offset: number; key_id: string | null }

/** Of those of these batches that are the organisation's own and were decided, by batch id. */
export const findSources = async (
  pool: Pool,
  orgId: string,
  batchIds: readonly string[],
): Promise<Map<string, BatchOrigin>> => {
  if (batchIds.length === 0) return new Map()
  const { rows } = await pool.query<BatchOrigin & { batch_id: string }>({
    name: 'find-sources',
    text: `
      select batch_id, topic, partition, submitted_offset as "offset", key_id
      from integrity.verdicts
      where batch_id = any ($1::uuid[]) and org_id = $2`,
    values: [batchIds, orgId],
  })
  return new Map(rows.map(({ batch_id, ...source }) => [batch_id, source]))
}
