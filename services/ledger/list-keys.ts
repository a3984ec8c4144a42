import type { Pool } from '#platform/postgres/postgres.js'
import type { Key } from '../operator/access/key.js'

/** All keys of one organisation, or of all; never a hash. */
export const listKeys = async (db: Pool, org: string | null): Promise<Key[]> => {
  const { rows } = await db.query<Key>(
    `
    select key_id, org_id as org, scopes, created_at, expires_at, revoked_at, last_used_at
    from auth.api_keys
    where $1::text is null or org_id = $1
    order by org_id, created_at, key_id`,
    [org],
  )
  return rows
}
