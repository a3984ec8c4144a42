import type { Pool } from '#platform/postgres/postgres.js'

/** Up to where each partition of the submitted log is decided, by `topic/partition`. */
export const findCursors = async (pool: Pool): Promise<Map<string, number>> => {
  const { rows } = await pool.query<{ place: string; next_offset: number }>(
    `select topic || '/' || partition as place, next_offset from integrity.cursors`,
  )
  return new Map(rows.map(({ place, next_offset }) => [place, next_offset]))
}
