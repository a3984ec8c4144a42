import type { Connection, Pool } from '#platform/postgres/postgres.js'

export type Revoked = { key_id: string; org: string; revoked_at: Date; already: boolean }

/** A key that was revoked before keeps its first date; undefined where there is no such key. */
export const revokeKey = async (db: Pool | Connection, keyId: string): Promise<Revoked | undefined> => {
  const { rows } = await db.query<Revoked>(
    `
    update auth.api_keys
    set revoked_at = coalesce(revoked_at, now())
    where key_id = $1
    returning key_id, org_id as org, revoked_at, revoked_at < now() as already`,
    [keyId],
  )
  return rows[0]
}
