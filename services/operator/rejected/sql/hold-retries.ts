import type { Pool } from '#platform/postgres.js'
import { OperatorError } from '../../operator-error.js'

/** Runs work as the only one that retries: Postgres lets go of the lock when the work or its process ends, however that is. */
export const holdRetries = async <T>(pool: Pool, work: () => Promise<T>): Promise<T> => {
  const connection = await pool.connect()
  // Should it be cut, the claims still keep two runs apart; what was under way fails by itself.
  connection.on('error', () => {})
  try {
    const { rows } = await connection.query<{ held: boolean }>(
      `select pg_try_advisory_lock(hashtext('integrity.retries')) as held`,
    )
    if (!rows[0]?.held) throw new OperatorError('another "weir rejected retry" is running: wait until it has ended')
    return await work()
  } finally {
    // Destroyed, not given back: with the connection goes the lock.
    connection.release(true)
  }
}
