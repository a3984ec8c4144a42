import type { Pool } from '#platform/postgres.js'

export type StoredKey = { keyId: string; orgId: string; scopes: string[] | null; expiresAt: number | null }

type Row = { key_id: string; org_id: string; scopes: string[] | null; expires_at: Date | null }

/** A key that may be used now. */
export const findKey = async (pool: Pool, hash: Buffer): Promise<StoredKey | undefined> => {
  const { rows } = await pool.query<Row>({
    name: 'find-key',
    text: `
      select key_id, org_id, scopes, expires_at
      from auth.api_keys
      where key_hash = $1
        and revoked_at is null
        and (expires_at is null or expires_at > now())`,
    values: [hash],
  })
  const [row] = rows
  return (
    row && { keyId: row.key_id, orgId: row.org_id, scopes: row.scopes, expiresAt: row.expires_at?.getTime() ?? null }
  )
}
