import type { Pool } from '#platform/postgres/postgres.js'

/** Those of these requests of which at least one batch was decided. */
export const findDecidedRequests = async (pool: Pool, requestIds: readonly string[]): Promise<Set<string>> => {
  const { rows } = await pool.query<{ request_id: string }>(
    `select distinct request_id from integrity.verdicts where request_id = any ($1::uuid[])`,
    [requestIds],
  )
  return new Set(rows.map(({ request_id }) => request_id))
}
