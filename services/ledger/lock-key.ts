import type { Connection } from '#platform/postgres/postgres.js'
import type { Key } from '../operator/access/key.js'

/** A key, held until the transaction ends, so that two rotations of it come one after the other. */
export const lockKey = async (connection: Connection, keyId: string): Promise<Key | undefined> => {
  const { rows } = await connection.query<Key>(
    `
    select key_id, org_id as org, scopes, created_at, expires_at, revoked_at, last_used_at
    from auth.api_keys
    where key_id = $1
    for update`,
    [keyId],
  )
  return rows[0]
}
