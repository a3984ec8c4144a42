import type { Connection } from '#platform/postgres/postgres.js'
import { OperatorError } from '../operator/desk/operator-error.js'

/**
 * Puts the new index in the old one's place. With the cursors locked no decision is under way: each is taken wholly by the
 * old index or wholly by the new one. The key is renamed too, so that the next rebuild finds its own name free.
 */
export const swapIndex = async (connection: Connection, id: number): Promise<void> => {
  await connection.query(`lock table integrity.cursors in exclusive mode`)
  // Whoever lost the connection that holds the lock may stand before another one's table, half filled.
  const { rows } = await connection.query<{ id: number | null }>(
    `select to_regclass('integrity.entities_rebuilt')::oid as id`,
  )
  if (rows[0]?.id !== id) throw new OperatorError('another rebuild has begun meanwhile: nothing was changed')
  await connection.query(`drop table integrity.entities`)
  await connection.query(`drop function integrity.copy_to_rebuilt()`)
  await connection.query(`alter table integrity.entities_rebuilt rename to entities`)
  await connection.query(`alter index integrity.entities_rebuilt_pkey rename to entities_pkey`)
}
