import type { Pool } from '#platform/postgres/postgres.js'
import { firstRow } from '#platform/postgres/rows.js'

// Of all services, one removes something: Kafka's topics have one set of settings.
const lock = 7_270_011

/** Does work unless another service, or other work of this one, is removing something; undefined then. */
export const ifFirst = async <T>(pool: Pool, work: () => Promise<T>): Promise<T | undefined> => {
  const connection = await pool.connect()
  try {
    const held = await firstRow<{ held: boolean }>(connection, 'select pg_try_advisory_lock($1) as held', [lock])
    return held?.held ? await work() : undefined
  } finally {
    await connection.query('select pg_advisory_unlock($1)', [lock]).catch(() => {})
    connection.release()
  }
}
