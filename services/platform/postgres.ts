import pg from 'pg'
import type { Log } from './log.js'

export type Pool = pg.Pool
export type Connection = pg.PoolClient

// int8 is what offsets and versions are kept in; they stay far below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)

/** `answerWithin`: a connection that died without a word is noticed after so long, where otherwise it takes hours. */
export const createPool = (url: string, log: Log, max = 10, answerWithin = 0): Pool => {
  const pool = new pg.Pool({
    connectionString: url,
    max,
    connectionTimeoutMillis: 5_000,
    query_timeout: answerWithin,
    keepAlive: true,
  })
  // Without a listener, an idle connection that is cut ends the process.
  pool.on('error', (error) => log.warn({ err: error }, 'idle Postgres connection lost'))
  return pool
}

/** Rejects where Postgres does not answer; one that hangs keeps no connection of the pool. */
export const ping = async (pool: Pool): Promise<void> => {
  const question = { text: 'select 1', query_timeout: 3_000 }
  await pool.query(question)
}

/** One transaction: committed when the work resolves, rolled back when it throws. */
export const inTransaction = async <T>(pool: Pool, work: (connection: Connection) => Promise<T>): Promise<T> => {
  const connection = await pool.connect()
  // A connection that dies while it is out emits this; the query under way rejects by itself.
  connection.on('error', ignoreTwice)
  let broken: Error | undefined
  try {
    await connection.query(begin)
    const result = await work(connection)
    await connection.query('commit')
    return result
  } catch (error) {
    // Where Postgres itself did not answer, it is not asked again: the connection is closed, and that rolls back.
    broken = error instanceof pg.DatabaseError ? await rollBack(connection) : (error as Error)
    throw error
  } finally {
    connection.off('error', ignoreTwice)
    connection.release(broken)
  }
}

const rollBack = (connection: Connection): Promise<Error | undefined> =>
  connection.query('rollback').then(
    () => undefined,
    (failure: Error) => failure,
  )

// Whoever falls asleep in a transaction holds what others wait for, such as a partition's cursor: Postgres lets go of it.
const begin = `begin; set local idle_in_transaction_session_timeout = '10s'`

const ignoreTwice = (): void => {}
