import type { Pool } from '#platform/postgres/postgres.js'
import { OperatorError } from './operator-error.js'
import { tryLock } from './try-lock.js'
import { unlock } from './unlock.js'

/** Throws when somebody else could have begun meanwhile: Postgres lets go of a lock when it loses the connection. */
export type StillAlone = () => Promise<void>

/** Runs work that no other command may do at the same time. Whoever dies leaves no lock behind. */
export const alone = async <T>(pool: Pool, name: string, work: (stillAlone: StillAlone) => Promise<T>): Promise<T> => {
  const connection = await pool.connect()
  let lost: Error | undefined
  const onError = (error: Error): void => {
    lost = error
  }
  connection.on('error', onError)
  try {
    if (!(await tryLock(connection, `weir ${name}`)))
      throw new OperatorError(`another "weir ${name}" is running: wait until it is done, then try again if need be`)
    try {
      return await work(async () => {
        await connection.query('select 1').catch(onError)
        if (lost) throw new OperatorError(`Postgres was away (${lost.message}): try again`)
      })
    } finally {
      // Not left to the end of the connection: the next command may come before Postgres has noticed that. One that is cut
      // by now has let go already.
      await unlock(connection, `weir ${name}`).catch(onError)
    }
  } finally {
    connection.off('error', onError)
    connection.release(true)
  }
}
