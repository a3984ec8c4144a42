import type { Pool } from '#platform/postgres.js'
import { OperatorError } from '../../operator-error.js'

/** Runs work as the only one that retries. Should its process be killed, Postgres lets go of the lock by itself. */
export const holdRetries = async <T>(pool: Pool, work: () => Promise<T>): Promise<T> => {
  const connection = await pool.connect()
  // Should it be cut, the claims still keep two runs apart; what was under way fails by itself.
  connection.on('error', () => {})
  try {
    const { rows } = await connection.query<{ held: boolean }>(
      `select pg_try_advisory_lock(hashtext('integrity.retries')) as held`,
    )
    if (!rows[0]?.held) throw new OperatorError('another "weir rejected retry" is running: wait until it has ended')
    try {
      return await work()
    } finally {
      // A connection that is cut by now has let go already.
      await connection.query(`select pg_advisory_unlock(hashtext('integrity.retries'))`).catch(() => {})
    }
  } finally {
    connection.release(true)
  }
}
