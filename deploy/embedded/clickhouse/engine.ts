import { Session } from 'chdb'
import { toClickHouseError } from './errors.js'

export type Engine = ReturnType<typeof openEngine>

export type Outcome = { bytes: Uint8Array; rows: number; size: number; seconds: number }

/** What a statement runs under. Given anew for each request: nothing of it outlives the request. */
export type Surroundings = {
  database?: string | undefined
  settings: ReadonlyMap<string, string>
  readonly?: string | undefined
}

/**
 * The ClickHouse engine on one data folder. Settings stick to a connection, so each statement gets a
 * connection of its own (2 ms) beside the root one, which only keeps the engine loaded.
 */
export const openEngine = (path: string, threads: number) => {
  const root = new Session(path)
  const version = root.query('SELECT version()', 'TabSeparatedRaw').trim()
  // A running statement holds a thread of libuv's pool. Some are kept back, or no request could be
  // written to disk while all of them compute.
  const turnstile = createTurnstile(threads - Math.max(2, threads >> 2))

  const run = async (sql: string, format: string, under: Surroundings): Promise<Outcome> => {
    const session = new Session(path)
    try {
      const result = await session.queryAsync(`${prelude(under)} ${sql}`, { format })
      return { bytes: result.bytes(), rows: result.rowsRead, size: result.bytesRead, seconds: result.elapsed }
    } catch (error) {
      throw toClickHouseError(error)
    } finally {
      session.close()
    }
  }

  return {
    version,
    run: (sql: string, format: string, under: Surroundings) => turnstile(() => run(sql, format, under)),
    /** Ends what runs under this log_comment: the engine chooses query ids itself, so the comment is the handle. */
    cancel: (comment: string) =>
      root.queryAsync(`KILL QUERY WHERE Settings['log_comment'] = ${literal(comment)} ASYNC`),
    /** Ends whatever is running. Not through the turnstile, which may be full of what is to be ended. */
    cancelAll: () => root.queryAsync('KILL QUERY WHERE query_id != queryID() ASYNC'),
    close: () => root.close(),
  }
}

/** Lets at most `places` tasks run at a time; the others wait in the order they came. */
const createTurnstile = (places: number) => {
  const waiting: (() => void)[] = []
  let free = places
  return async <T>(task: () => Promise<T>): Promise<T> => {
    if (free > 0) free--
    else await new Promise<void>((enter) => waiting.push(enter))
    try {
      return await task()
    } finally {
      const next = waiting.shift()
      if (next === undefined) free++
      else next()
    }
  }
}

/** Puts a request's surroundings before its statement; readonly comes last because it locks the rest. */
export const prelude = ({ database, settings, readonly }: Surroundings): string => {
  const assignments = [...LIKE_A_SERVER, ...settings].map(([name, value]) => `${identifier(name)}=${literal(value)}`)
  return [
    database ? `USE ${identifier(database)};` : '',
    `SET ${assignments.join(', ')};`,
    readonly === undefined ? '' : `SET readonly=${literal(readonly)};`,
  ].join(' ')
}

// The embedded engine is set up like the clickhouse-local tool; these are a server's defaults.
const LIKE_A_SERVER: [string, string][] = [
  ['implicit_select', '0'],
  ['allow_introspection_functions', '0'],
]

const literal = (value: string) => `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
const identifier = (name: string) => (/^[A-Za-z_]\w*$/.test(name) ? name : `\`${name.replace(/[\\`]/g, '\\$&')}\``)
