import type { Pool } from './postgres.js'

/** Throws when somebody else could have begun meanwhile: Postgres releases a lock when it loses the connection. */
export type StillAlone = () => Promise<void>

/**
 * Does work that no other process may do at the same time under this name; undefined where one does. The lock ends with its
 * process; with `sleepWithin`, also where that has not asked for that many milliseconds whether it is still alone.
 */
export const tryAlone = async <T>(
  pool: Pool,
  name: string,
  work: (stillAlone: StillAlone) => Promise<T>,
  { sleepWithin }: { sleepWithin?: number } = {},
): Promise<{ done: T } | undefined> => {
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
      [name],
    )
    if (!rows[0]?.taken) return undefined
    if (sleepWithin) await connection.query(`set idle_session_timeout = ${sleepWithin}`)
    try {
      return {
        done: await work(async () => {
          await connection.query('select 1').catch(onError)
          if (lost) throw lost
        }),
      }
    } finally {
      // Not left to the end of the connection, which Postgres may notice late. One that is cut has released the lock already.
      await connection.query('select pg_advisory_unlock(hashtextextended($1, 0))', [name]).catch(onError)
    }
  } finally {
    connection.off('error', onError)
    connection.release(true)
  }
}
