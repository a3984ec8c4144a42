import type { Connection } from '#platform/postgres/postgres.js'

/** Puts a chosen text under a key id. Another text that stood there ends with it. */
export const setKeyText = async (
  connection: Connection,
  key: { keyId: string; hash: Buffer; org: string },
): Promise<void> => {
  await connection.query(
    `
    insert into auth.api_keys (key_id, org_id, key_hash)
    values ($1, $2, $3)
    on conflict (key_id) do update
    set key_hash = excluded.key_hash, scopes = null, created_at = now(),
      expires_at = null, revoked_at = null, last_used_at = null
    where api_keys.org_id = excluded.org_id`,
    [key.keyId, key.org, key.hash],
  )
}
