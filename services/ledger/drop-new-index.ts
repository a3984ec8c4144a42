import type { Connection } from '#platform/postgres/postgres.js'

/** Takes away all that a rebuild of the index makes, also that of one which was cut off. */
export const dropNewIndex = async (connection: Connection): Promise<void> => {
  await connection.query(`drop trigger if exists copy_to_rebuilt on integrity.entities`)
  await connection.query(`drop function if exists integrity.copy_to_rebuilt()`)
  await connection.query(`drop table if exists integrity.entities_rebuilt`)
}
