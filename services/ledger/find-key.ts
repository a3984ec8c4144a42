import type { Pool } from '#platform/postgres/postgres.js'
import type { OrgRates } from '../edge/limits/rates.js'

export type StoredKey = {
  keyId: string
  orgId: string
  hash: Buffer
  scopes: string[] | null
  expiresAt: number | null
  rates?: OrgRates
}

type Row = {
  key_id: string
  org_id: string
  key_hash: Buffer
  scopes: string[] | null
  expires_at: Date | null
  requests_per_second: number | null
  records_per_second: number | null
}

// A server that hangs must not keep connections of the pool for ever: one whose answer is late is thrown away.
const answerWithin = 5_000

/**
 * A key that may be used now. It is asked for by the hash of all that was shown, so that Postgres does the same work for
 * an id that exists as for one that does not.
 */
export const findKey = async (pool: Pool, hash: Buffer): Promise<StoredKey | undefined> => {
  const question = {
    name: 'find-key',
    text: `
      select key_id, org_id, key_hash, scopes, expires_at, requests_per_second, records_per_second
      from auth.api_keys
      join auth.organisations using (org_id)
      where key_hash = $1
        and revoked_at is null
        and (expires_at is null or expires_at > now())`,
    values: [hash],
    query_timeout: answerWithin,
  }
  const { rows } = await pool.query<Row>(question)
  const [row] = rows
  return (
    row && {
      keyId: row.key_id,
      orgId: row.org_id,
      hash: row.key_hash,
      scopes: row.scopes,
      expiresAt: row.expires_at?.getTime() ?? null,
      rates: { requests: row.requests_per_second, records: row.records_per_second },
    }
  )
}
