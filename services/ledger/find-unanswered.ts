import type { Pool } from '#platform/postgres/postgres.js'
import type { Wanted } from '../operator/rejected/find-records.js'

/** A request that an earlier run claimed records for, and whose answer nobody saw; its records in their order. */
export type Unanswered = { retryId: string; org: string; type: string; claimedAt: Date; wanted: Wanted[] }

export const findUnanswered = async (pool: Pool): Promise<Unanswered[]> => {
  const { rows } = await pool.query<{
    retry_id: string
    org_id: string
    type: string
    claimed_at: Date
    batch_ids: string[]
    indexes: number[]
    times: Date[]
  }>(`
    select retry_id, org_id, type, min(claimed_at) as claimed_at, array_agg(batch_id order by place) as batch_ids,
      array_agg(index order by place) as indexes, array_agg(rejected_at order by place) as times
    from integrity.retries
    where outcome is null
    group by retry_id, org_id, type
    order by min(claimed_at), retry_id`)
  return rows.map(({ retry_id, org_id, type, claimed_at, batch_ids, indexes, times }) => ({
    retryId: retry_id,
    org: org_id,
    type,
    claimedAt: claimed_at,
    wanted: batch_ids.map((batchId, i) => ({ batchId, index: indexes[i] ?? 0, rejectedAt: times[i] ?? claimed_at })),
  }))
}
