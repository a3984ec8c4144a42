import type { Connection } from '#platform/postgres/postgres.js'

/** A lock that the connection holds until it ends, however it ends; false where another one holds it. */
export const tryLock = async (connection: Connection, name: string): Promise<boolean> => {
  const { rows } = await connection.query<{ taken: boolean }>(
    `select pg_try_advisory_lock(hashtextextended($1, 0)) as taken`,
    [name],
  )
  return rows[0]?.taken ?? false
}
