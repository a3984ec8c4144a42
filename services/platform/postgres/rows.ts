import type { Connection, Pool } from './postgres.js'

// What a statement gives back, in the one form that its caller wants.

/** A pool, or the connection of a transaction. */
export type Database = Pool | Connection
type Statement = string | { name?: string; text: string; values?: unknown[]; query_timeout?: number }

export const rowsOf = async <Row extends object>(
  db: Database,
  statement: Statement,
  values?: unknown[],
): Promise<Row[]> => {
  const { rows } = await db.query<Row>(statement, values)
  return rows
}

/** Undefined where there is none. */
export const firstRow = async <Row extends object>(
  db: Database,
  statement: Statement,
  values?: unknown[],
): Promise<Row | undefined> => {
  const [row] = await rowsOf<Row>(db, statement, values)
  return row
}

/** The number in the column `count` of the one row that the statement gives. */
export const countOf = async (db: Database, statement: Statement, values?: unknown[]): Promise<number> =>
  (await firstRow<{ count: number }>(db, statement, values))?.count ?? 0

/** How many rows the statement has changed. */
export const changedBy = async (db: Database, statement: Statement, values?: unknown[]): Promise<number> => {
  const { rowCount } = await db.query(statement, values)
  return rowCount ?? 0
}

/** A list of each of these values of all rows, as `unnest` takes them. */
export const listsOf = <Row, Name extends keyof Row>(rows: readonly Row[], ...names: Name[]): Row[Name][][] =>
  names.map((name) => rows.map((row) => row[name]))

/** The time by Postgres's clock, in milliseconds: what several hosts have to agree on goes by it, since their own may differ. */
export const timeNow = 'floor(extract(epoch from clock_timestamp()) * 1000)::bigint'
export const timeOf = async (db: Database): Promise<number> => {
  const found = await firstRow<{ now: number }>(db, {
    name: 'time',
    text: `select ${timeNow} as now`,
  })
  if (!found) throw new Error('Postgres did not tell the time')
  return found.now
}
