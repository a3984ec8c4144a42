import { setTimeout as sleep } from 'node:timers/promises'
import { type Connection, inTransaction, type Pool } from '#platform/postgres/postgres.js'
import { OperatorError } from '../desk/operator-error.js'

const tries = 20
const lockNotAvailable = '55P03'
const deadlock = '40P01'

/** A transaction that gives up a lock it cannot get: whoever waits for a lock makes everybody after it wait too. */
export const inShortTransaction = async <T>(pool: Pool, work: (connection: Connection) => Promise<T>): Promise<T> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await inTransaction(pool, async (connection) => {
        await connection.query(`set local lock_timeout = '2s'`)
        return work(connection)
      })
    } catch (error) {
      const { code } = error as { code?: string }
      if (code !== lockNotAvailable && code !== deadlock) throw error
      if (attempt === tries) {
        throw new OperatorError(
          'Postgres does not give out the lock on integrity.cursors or integrity.entities: ' +
            'look in pg_stat_activity for a transaction that stands still, end it, then try again',
        )
      }
      await sleep(500)
    }
  }
}
