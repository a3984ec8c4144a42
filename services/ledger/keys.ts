import type { Connection, Pool } from '#platform/postgres/postgres.js'
import type { Key } from '../operator/access/key.js'

export type NewKey = {
  keyId: string
  hash: Buffer
  org: string
  scopes: readonly string[] | null
  /** Milliseconds from now, by the clock of Postgres; null: for ever. */
  lifetime: number | null
}

export const insertKey = async (db: Pool | Connection, key: NewKey): Promise<Pick<Key, 'expires_at'>> => {
  const { rows } = await db.query<Pick<Key, 'expires_at'>>(
    `
    insert into auth.api_keys (key_id, org_id, key_hash, scopes, expires_at)
    values ($1, $2, $3, $4, now() + $5 * interval '1 millisecond')
    returning expires_at`,
    [key.keyId, key.org, key.hash, key.scopes, key.lifetime],
  )
  if (!rows[0]) throw new Error('Postgres took the key and gave no row back')
  return rows[0]
}
