import type { Pool } from '#platform/postgres/postgres.js'
import { OperatorError } from './operator-error.js'

/** Throws when another command could have begun meanwhile: Postgres releases a lock when it loses the connection. */
export type StillAlone = () => Promise<void>

/** Runs work that no other command may do at the same time. A command that dies leaves no lock behind. */
export const alone = async <T>(pool: Pool, name: string, work: (stillAlone: StillAlone) => Promise<T>): Promise<T> => {
  const connection = await pool.connect()
  let lost: Error | undefined
  const onError = (error: Error): void => {
    lost = error
  }
  connection.on('error', onError)
  try {
    // Held by this connection until it ends, however it ends.
    const { rows } = await connection.query<{ taken: boolean }>(
      'select pg_try_advisory_lock(hashtextextended($1, 0)) as taken',
      [`weir ${name}`],
    )
    if (!rows[0]?.taken)
      throw new OperatorError(`another "weir ${name}" is running: wait until it is done, then try again if need be`)
    try {
      return await work(async () => {
        await connection.query('select 1').catch(onError)
        if (lost) throw new OperatorError(`Postgres was away (${lost.message}): try again`)
      })
    } finally {
      // Not left to the end of the connection: the next command may come before Postgres has noticed that end. A connection
      // that is cut by now has released the lock already.
      await connection.query('select pg_advisory_unlock(hashtextextended($1, 0))', [`weir ${name}`]).catch(onError)
    }
  } finally {
    connection.off('error', onError)
    connection.release(true)
  }
}
