import type { Connection } from '#platform/postgres/postgres.js'

/** Gives a lock of tryLock back before the connection ends. */
export const unlock = async (connection: Connection, name: string): Promise<void> => {
  await connection.query('select pg_advisory_unlock(hashtextextended($1, 0))', [name])
}
