import type { Pool } from '#platform/postgres/postgres.js'

export type Comparison = {
  type: string
  /** How many the new index holds. */
  entities: number
  /** Of these, how many the old one lacks. */
  added: number
  /** How many the old one holds that no topic knows of. */
  removed: number
}

/** Both are written in the same transactions, so one query sees the two as they were at one moment. */
export const compareIndexes = async (pool: Pool): Promise<Comparison[]> => {
  const { rows } = await pool.query<Comparison>(`
    select type, count(rebuilt.id) as entities,
      count(*) filter (where present.id is null) as added, count(*) filter (where rebuilt.id is null) as removed
    from integrity.entities present
    full join integrity.entities_rebuilt rebuilt using (org_id, type, id)
    group by type
    order by type`)
  return rows
}
