import type { Pool } from '#platform/postgres/postgres.js'

/**
 * Deletes the oldest notes, so many at the most: those past their time, and those that have nothing left to tell because
 * all of their batches are decided. These must not outlive their verdicts: they would be told as undecided again.
 */
export const pruneRequests = async (pool: Pool, retentionHours: number, most: number): Promise<number> => {
  const { rowCount } = await pool.query({
    name: 'prune-requests',
    text: `
      delete from edge.requests
      where request_id in (
        select r.request_id
        from edge.requests r
        where r.submitted_at < now() - interval '1 hour'
          and (
            r.submitted_at < now() - make_interval(hours => $1)
            or cardinality(r.batch_records) <= (
              select count(*) from integrity.verdicts v where v.request_id = r.request_id
            )
          )
        order by r.submitted_at
        limit $2
        for update of r skip locked
      )`,
    values: [retentionHours, most],
  })
  return rowCount ?? 0
}
