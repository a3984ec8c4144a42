import type { Connection } from '#platform/postgres/postgres.js'
import type { Key } from '../operator/access/key.js'

export const findKeyByHash = async (connection: Connection, hash: Buffer): Promise<Key | undefined> => {
  const { rows } = await connection.query<Key>(
    `
    select key_id, org_id as org, scopes, created_at, expires_at, revoked_at, last_used_at
    from auth.api_keys
    where key_hash = $1`,
    [hash],
  )
  return rows[0]
}
