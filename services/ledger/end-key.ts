import type { Connection } from '#platform/postgres/postgres.js'

/** Lets a key live for so many milliseconds more, and no longer than it would have lived anyway. */
export const endKey = async (connection: Connection, keyId: string, grace: number): Promise<Date> => {
  const { rows } = await connection.query<{ expires_at: Date }>(
    `
    update auth.api_keys
    set expires_at = least(expires_at, now() + $2 * interval '1 millisecond')
    where key_id = $1
    returning expires_at`,
    [keyId, grace],
  )
  if (!rows[0]) throw new Error(`the key ${keyId} has gone while it was held`)
  return rows[0].expires_at
}
