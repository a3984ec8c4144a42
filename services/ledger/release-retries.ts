import type { Pool } from '#platform/postgres/postgres.js'

/** Gives back what was claimed for a request that was never taken. */
export const releaseRetries = async (pool: Pool, retryId: string): Promise<void> => {
  await pool.query('delete from integrity.retries where retry_id = $1 and outcome is null', [retryId])
}
