import type { Pool } from '#platform/postgres/postgres.js'

/** Takes away at most so many retries of rejections from before a moment; those that another instance has are left. */
export const pruneRetries = async (pool: Pool, before: Date, most: number): Promise<number> => {
  const { rowCount } = await pool.query({
    name: 'prune-retries',
    text: `
      delete from integrity.retries
      where (batch_id, index) in (
        select batch_id, index
        from integrity.retries
        where rejected_at < $1
        order by rejected_at
        limit $2
        for update skip locked
      )`,
    values: [before, most],
  })
  return rowCount ?? 0
}
