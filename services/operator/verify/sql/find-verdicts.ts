import type { Pool } from '#platform/postgres.js'
import type { PlacedVerdict } from '#schemas/derive/decided-events.js'

/** A stored verdict, and the place in the submitted log that it was taken on. */
export type FoundVerdict = PlacedVerdict & { topic: string; partition: number }

export const findVerdicts = async (pool: Pool, batchIds: readonly string[]): Promise<Map<string, FoundVerdict>> => {
  if (batchIds.length === 0) return new Map()
  const { rows } = await pool.query<Omit<FoundVerdict, 'decided_at'> & { decided_at: Date }>({
    name: 'verify-find-verdicts',
    text: `
      select batch_id, org_id, request_id, type, batch, batches, first_index, body_sha256, accepted, refused, repeated,
        decided_at, topic, partition, submitted_offset
      from integrity.verdicts
      where batch_id = any ($1::uuid[])`,
    values: [batchIds],
  })
  return new Map(rows.map((row) => [row.batch_id, { ...row, decided_at: row.decided_at.getTime() }]))
}
