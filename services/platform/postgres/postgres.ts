import type { Socket } from 'node:net'
import pg from 'pg'
import type { Log } from '../health/log.js'
import { AccessRefused } from '../process/access.js'
import { tlsProblem } from '../process/tls-problem.js'
import { createClient, createHosts } from './hosts.js'

export type Pool = pg.Pool
export type Connection = pg.PoolClient

// Offsets and versions are int8 columns; they stay far below 2^53, so that a number holds them.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)

// A process that is stopped in a transaction holds locks, such as a partition's cursor: after this long Postgres ends it.
const sleepWithin = 10_000

export type PoolOptions = {
  /** Without a bound, a statement on a connection that was lost waits for hours, and Postgres keeps its locks. */
  queryTimeout?: number
  /** Otherwise Postgres reads whole tables while they are small, and keeps that plan after they have grown. */
  byIndexes?: boolean
  /** Done with each new connection before it is used. */
  onConnect?: (connection: Pick<Connection, 'query'>) => Promise<void>
}

const byIndexesOnly = 'set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off;'

export const createPool = (url: string, log: Log, max = 10, options: PoolOptions = {}): Pool => {
  const { queryTimeout, byIndexes, onConnect } = options
  const hosts = createHosts(url)
  const pool = new pg.Pool({
    // The pool makes them with `new`.
    Client: new Proxy(pg.Client, { construct: (_, [config]) => createClient(config, hosts) }),
    connectionString: url,
    max,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    ...(queryTimeout && {
      query_timeout: queryTimeout,
      // Set by a statement: a pooler in between might not know them as parameters of the connection.
      onConnect: async (connection: pg.ClientBase) => {
        await connection.query(
          `${byIndexes ? byIndexesOnly : ''}
          set statement_timeout = ${queryTimeout};
          set idle_in_transaction_session_timeout = ${Math.min(queryTimeout, sleepWithin)}`,
        )
        await onConnect?.(connection)
      },
    }),
  })
  // Without a listener, an idle connection that is cut ends the process.
  pool.on('error', (error) => log.warn({ err: error }, 'idle Postgres connection lost'))
  return pool
}

/** Closes the pool once its queries are done; does nothing where `abandonAfter` has closed it already. */
export const endPool = async (pool: Pool): Promise<void> => {
  if (!pool.ending) await pool.end()
}

/** For a service that stops: queries that Postgres has not answered after this long fail, and so do all later ones. */
export const abandonAfter = (ms: number, pool: Pool): void => {
  const abandon = () => {
    const { _clients: connections } = pool as unknown as { _clients: { connection: { stream: Socket } }[] }
    for (const { connection } of connections) connection.stream.destroy()
    void endPool(pool)
  }
  setTimeout(abandon, ms).unref()
}

/** Rejects where Postgres does not answer. Bounded, so that a Postgres that hangs does not use up the pool's connections. */
export const ping = async (pool: Pool): Promise<void> => {
  const question = { text: 'select 1', query_timeout: 3_000 }
  await pool.query(question).catch((error: unknown) => {
    throw orRefused(error)
  })
}

/** The one line for a service that Postgres does not let in; the error itself where that is not what went wrong. */
export const orRefused = (error: unknown): unknown => {
  const { code, message } = error as Error & { code?: string }
  const off = 'leave POSTGRES_CA_FILE out, and sslmode in POSTGRES_URL'
  const on = 'set POSTGRES_CA_FILE, or sslmode=verify-full in POSTGRES_URL'
  const problem = tlsProblem(error, { part: 'Postgres', ca: 'POSTGRES_CA_FILE', on, off })
  if (problem) return new AccessRefused(problem)
  // Said by the client, without a code.
  if (message === 'The server does not support SSL connections')
    return new AccessRefused(`Postgres does not speak TLS there: ${off}`)
  if (code === '28000' && message.includes('no encryption'))
    return new AccessRefused(`Postgres takes only connections over TLS (${message}): ${on}`)
  if (code === '28P01' || code === '28000')
    return new AccessRefused(`Postgres refuses the login (${message}): check the user and password in POSTGRES_URL`)
  return error
}

type TransactionOptions = Pick<PoolOptions, 'queryTimeout'> & {
  /** The work reads before the transaction is known to have begun, which saves a round trip. It must await `begun` before it writes. */
  readsAhead?: boolean
}

/** One transaction: committed when the work resolves, rolled back when it throws. `queryTimeout` holds for its statements. */
export const inTransaction = async <T>(
  pool: Pool,
  work: (connection: Connection, begun: Promise<unknown>) => Promise<T>,
  { queryTimeout, readsAhead = false }: TransactionOptions = {},
): Promise<T> => {
  const connection = await pool.connect()
  // A connection that is lost in use emits this, and ends the process without a listener; its query rejects by itself.
  connection.on('error', ignore)
  let broken: Error | undefined
  try {
    const begun = connection.query(queryTimeout ? `begin; set local statement_timeout = ${queryTimeout}` : 'begin')
    if (readsAhead) begun.catch(ignore)
    else await begun
    const result = await work(queryTimeout ? withTimeout(connection, queryTimeout) : connection, begun)
    await connection.query('commit')
    return result
  } catch (error) {
    // Where the error is not Postgres's own answer, `rollback` is not sent either: closing the connection rolls back.
    broken = error instanceof pg.DatabaseError ? await rollBack(connection) : (error as Error)
    throw error
  } finally {
    connection.off('error', ignore)
    connection.release(broken)
  }
}

/** The same connection, of which each answer is waited for this long. */
const withTimeout = (connection: Connection, ms: number): Connection => {
  const query = (text: string, values?: unknown[]) => {
    const question = { text, query_timeout: ms }
    return connection.query(question, values)
  }
  return Object.assign(Object.create(connection), { query })
}

const rollBack = async (connection: Connection): Promise<Error | undefined> => {
  const question = { text: 'rollback', query_timeout: 1_000 }
  return connection.query(question).then(
    () => undefined,
    (failure: Error) => failure,
  )
}

const ignore = (): void => {}
