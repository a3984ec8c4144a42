import type { Socket } from 'node:net'
import pg from 'pg'
import type { Log } from '../health/log.js'

export type Pool = pg.Pool
export type Connection = pg.PoolClient

// int8 is what offsets and versions are kept in; they stay far below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)

// Whoever falls asleep in a transaction holds what others wait for, such as a partition's cursor: Postgres lets go of it.
const sleepWithin = 10_000

export type PoolOptions = {
  /**
   * How long a statement may take, for those who serve others. Without it one on a link that died without a word would wait
   * for hours, and on the other end Postgres would keep its transaction open, and with it its locks.
   */
  queryTimeout?: number
}

export const createPool = (url: string, log: Log, max = 10, { queryTimeout }: PoolOptions = {}): Pool => {
  const pool = new pg.Pool({
    connectionString: url,
    max,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    ...(queryTimeout && {
      query_timeout: queryTimeout,
      // Not as parameters of the connection, which a pooler in between might not know.
      onConnect: (connection: pg.ClientBase) =>
        connection.query(
          `set statement_timeout = ${queryTimeout};
          set idle_in_transaction_session_timeout = ${Math.min(queryTimeout, sleepWithin)}`,
        ),
    }),
  })
  // Without a listener, an idle connection that is cut ends the process.
  pool.on('error', (error) => log.warn({ err: error }, 'idle Postgres connection lost'))
  return pool
}

/** Waits for what is under way, if it has not been abandoned already. */
export const endPool = async (pool: Pool): Promise<void> => {
  if (!pool.ending) await pool.end()
}

/** For a service that stops: what still hangs on Postgres after this long fails, and so does what comes later. */
export const abandonAfter = (ms: number, pool: Pool): void => {
  const abandon = () => {
    const { _clients: connections } = pool as unknown as { _clients: { connection: { stream: Socket } }[] }
    for (const { connection } of connections) connection.stream.destroy()
    void endPool(pool)
  }
  setTimeout(abandon, ms).unref()
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
    await connection.query('begin')
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

const rollBack = async (connection: Connection): Promise<Error | undefined> => {
  const question = { text: 'rollback', query_timeout: 1_000 }
  return connection.query(question).then(
    () => undefined,
    (failure: Error) => failure,
  )
}

const ignoreTwice = (): void => {}
