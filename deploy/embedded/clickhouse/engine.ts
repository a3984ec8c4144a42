import { Session } from 'chdb'
import { createTurnstile } from '#platform/process/turnstile.js'
import { toClickHouseError } from './errors.js'
import { removeBrokenParts, watchRefusedWrites } from './full-disk.js'
import type { QueryRequest } from './request.js'
import { identifier, literal } from './statement-split.js'

export type Engine = ReturnType<typeof openEngine>

/** What a statement gave: its result in the format asked for, how many rows and bytes it had, how long it took. */
export type StatementResult = {
  bytes: Uint8Array
  rows: number
  size: number
  seconds: number
  /** What was read for it, where that could be told. */
  read?: WhatWasRead | undefined
}
type WhatWasRead = { rows: number; bytes: number }

/** The database and the settings that a statement runs with. They hold for one request alone. */
type Surroundings = { settings: ReadonlyMap<string, string> } & Partial<
  Pick<QueryRequest, 'database' | 'readonly' | 'role'>
>

/** Settings stay with a connection, so each statement gets its own, in 2 ms; the root one keeps the engine loaded. */
export const openEngine = (path: string, config: string, threads: number, onRefusedWrite: () => void) => {
  // The first connection configures the engine for all.
  const root = new Session(path, { connectionArgs: [`--config-file=${config}`] })
  const version = root.query('SELECT version()', 'TabSeparatedRaw').trim()
  const tableFunctions = root.query('SELECT lower(name) FROM system.table_functions', 'TabSeparatedRaw')
  const writes = watchRefusedWrites(path, onRefusedWrite)
  // A running statement holds a thread of libuv's pool. A quarter of the threads, at least two, is kept for files: otherwise no
  // request's data could be written to disk while all threads run statements.
  const turnstile = createTurnstile(threads - Math.max(2, threads >> 2))

  let running = 0
  let begun = 0

  const run = async (
    sql: string,
    format: string,
    under: Surroundings,
    whatWasRead = async (): Promise<WhatWasRead | undefined> => undefined,
  ): Promise<StatementResult> => {
    const session = new Session(path)
    running++
    begun++
    try {
      const result = await session.queryAsync(`${prelude(under)} ${sql}`, { format })
      const read = await whatWasRead()
      // Before it is answered that it is done.
      await writes.checked()
      return { bytes: result.bytes(), rows: result.rowsRead, size: result.bytesRead, seconds: result.elapsed, read }
    } catch (error) {
      throw toClickHouseError(error)
    } finally {
      running--
      session.close()
    }
  }

  /** What the engine has read since it was opened; to ask that is a reading too, of `own` rows. */
  const readSoFar = async (): Promise<WhatWasRead & { own: number }> => {
    const result = await root.queryAsync(
      "SELECT sumIf(value, event = 'SelectedRows') AS rows, sumIf(value, event = 'SelectedBytes') AS bytes, count() AS own FROM system.events",
      { format: 'JSONEachRow' },
    )
    const { rows, bytes, own } = result.json() as Record<string, string>
    return { rows: Number(rows), bytes: Number(bytes), own: Number(own) }
  }

  // The engine tells what it has read in all, not for which statement: so it is known of a statement that had the engine for itself.
  const runMeasured = async (sql: string, format: string, under: Surroundings): Promise<StatementResult> => {
    const { ended } = writes.looks()
    const [first, second] = [await readSoFar(), await readSoFar()]
    const before = begun
    const wasAlone = running === 0
    return run(sql, format, under, async () => {
      if (!wasAlone || begun !== before + 1) return undefined
      const after = await readSoFar()
      if (writes.looks().begun !== ended) return undefined
      const ownBytes = second.bytes - first.bytes
      return { rows: after.rows - second.rows - second.own, bytes: Math.max(0, after.bytes - second.bytes - ownBytes) }
    })
  }

  return {
    version,
    /** The names of all table functions, in lower case. */
    tableFunctions: new Set(tableFunctions.trim().split('\n')),
    run: (sql: string, format: string, under: Surroundings) => turnstile(() => run(sql, format, under)),
    runMeasured: (sql: string, format: string, under: Surroundings) => turnstile(() => runMeasured(sql, format, under)),
    /** Ends the statement with this log_comment, its only name: the engine chooses query ids itself. */
    cancel: (comment: string) =>
      root.queryAsync(`KILL QUERY WHERE Settings['log_comment'] = ${literal(comment)} ASYNC`),
    /** Ends every running statement. Does not queue behind them in the turnstile, which they may fill. */
    cancelAll: () => root.queryAsync('KILL QUERY WHERE query_id != queryID() ASYNC'),
    /** Removes what was left out at earlier starts; how many parts. */
    removeBrokenParts: () => removeBrokenParts(root),
    close: async () => {
      await writes.close()
      root.close()
    },
  }
}

/** The SQL that sets a request's surroundings before its statement; readonly comes last because it locks the other settings. */
export const prelude = ({ database, settings, readonly, role }: Surroundings): string => {
  const assignments = [...LIKE_A_SERVER, ...settings].map(([name, value]) => `${identifier(name)}=${literal(value)}`)
  return [
    database ? `USE ${identifier(database)};` : '',
    `SET ${assignments.join(', ')};${role === undefined ? '' : ` SET ROLE ${identifier(role)};`}`,
    readonly === undefined ? '' : `SET readonly=${literal(readonly)};`,
  ].join(' ')
}

// Where the embedded engine has the defaults of the clickhouse-local tool, these are a server's.
const LIKE_A_SERVER: [string, string][] = [
  ['implicit_select', '0'],
  ['allow_introspection_functions', '0'],
]
