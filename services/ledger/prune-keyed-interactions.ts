import type { Pool } from '#platform/postgres/postgres.js'

/** Takes away at most so many keyed interactions that were recorded before a moment; those that another instance has are left. */
export const pruneKeyedInteractions = async (pool: Pool, before: Date, most: number): Promise<number> => {
  const { rowCount } = await pool.query({
    name: 'prune-keyed-interactions',
    text: `
      delete from integrity.keyed_interactions
      where (org_id, interaction_id) in (
        select org_id, interaction_id
        from integrity.keyed_interactions
        where recorded_at < $1
        order by recorded_at
        limit $2
        for update skip locked
      )`,
    values: [before, most],
  })
  return rowCount ?? 0
}
