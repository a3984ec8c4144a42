import { type Connection, inTransaction, type Pool } from '#platform/postgres/postgres.js'
import { firstRow, rowsOf } from '#platform/postgres/rows.js'
import { createKeyText, hashKey } from './key-text.js'
import { createOrg, type ListPart } from './organisations.js'

// auth.api_keys: who may send. Only the hash of a key's text is kept. A trigger notifies every edge of each change.

/** A key as it is kept: everything but its secret. */
export type Key = {
  key_id: string
  org: string
  /** null: all of them */
  scopes: string[] | null
  created_at: Date
  expires_at: Date | null
  revoked_at: Date | null
  last_used_at: Date | null
  is_operator: boolean
}

const keyColumns = `key_id, org_id as org, scopes, created_at, expires_at, revoked_at, last_used_at, is_operator`

export type ApiKeyState = 'active' | 'expired' | 'revoked'

export const stateOf = (key: Pick<Key, 'expires_at' | 'revoked_at'>, now: Date): ApiKeyState => {
  if (key.revoked_at) return 'revoked'
  return key.expires_at && key.expires_at <= now ? 'expired' : 'active'
}

export type NewKey = {
  keyId: string
  hash: Buffer
  org: string
  scopes: readonly string[] | null
  /** Milliseconds from now, by the clock of Postgres; null: the key does not expire. */
  lifetime: number | null
  isOperator?: boolean
}

export const insertKey = async (db: Pool | Connection, key: NewKey): Promise<Pick<Key, 'expires_at'>> => {
  const made = await firstRow<Pick<Key, 'expires_at'>>(
    db,
    `insert into auth.api_keys (key_id, org_id, key_hash, scopes, expires_at, is_operator)
    values ($1, $2, $3, $4, now() + $5 * interval '1 millisecond', $6)
    returning expires_at`,
    [key.keyId, key.org, key.hash, key.scopes, key.lifetime, key.isOperator ?? false],
  )
  if (!made) throw new Error('Postgres took the key and gave no row back')
  return made
}

/** A key that was just made, with its text: it is never known again. */
export type IssuedKey = { keyId: string; key: string; expires_at: Date | null }

/** Makes a key; an organisation that does not exist yet is created. */
export const issueKey = async (
  pool: Pool,
  wanted: Omit<NewKey, 'keyId' | 'hash'>,
): Promise<IssuedKey & { isNewOrg: boolean }> => {
  const { keyId, key } = createKeyText()
  return inTransaction(pool, async (connection) => {
    const isNewOrg = await createOrg(connection, wanted.org)
    return { keyId, key, isNewOrg, ...(await insertKey(connection, { ...wanted, keyId, hash: hashKey(key) })) }
  })
}

export type RotatedKey = IssuedKey & { old: Key; endsAt: Date }

/** Makes a key like another one, which ends in `grace` ms. `check` throws where the old one, or none, cannot be replaced. */
export const rotateKey = async (
  pool: Pool,
  keyId: string,
  { grace, lifetime }: { grace: number; lifetime?: number | undefined },
  check: (old: Key | undefined) => asserts old is Key,
): Promise<RotatedKey> => {
  const made = createKeyText()
  return inTransaction(pool, async (connection) => {
    const old = await lockKey(connection, keyId)
    check(old)
    // A key that was meant to run out is not replaced by one that never does.
    const asBefore = old.expires_at ? old.expires_at.getTime() - old.created_at.getTime() : null
    const { expires_at } = await insertKey(connection, {
      keyId: made.keyId,
      hash: hashKey(made.key),
      org: old.org,
      scopes: old.scopes,
      lifetime: lifetime ?? asBefore,
      isOperator: old.is_operator,
    })
    const endsAt = await endKey(connection, old.key_id, grace)
    // Revoked where it ends at once: an edge whose clock is behind would still take a key that expires now.
    if (grace === 0) await revokeKey(connection, old.key_id)
    return { ...made, expires_at, old, endsAt }
  })
}

/** Sets the text of a key to a chosen one. A text that the key had before is no longer valid. */
export const setKeyText = async (
  connection: Connection,
  key: { keyId: string; hash: Buffer; org: string },
): Promise<void> => {
  await connection.query(
    `insert into auth.api_keys (key_id, org_id, key_hash)
    values ($1, $2, $3)
    on conflict (key_id) do update
    set key_hash = excluded.key_hash, scopes = null, created_at = now(),
      expires_at = null, revoked_at = null, last_used_at = null
    where api_keys.org_id = excluded.org_id`,
    [key.keyId, key.org, key.hash],
  )
}

export type StoredKey = {
  keyId: string
  orgId: string
  hash: Buffer
  scopes: string[] | null
  /** Milliseconds, by Postgres's clock: those of its readers may differ. */
  expiresIn: number | null
  isOperator?: boolean
  /** Its organisation's own limits; null where the edge's defaults hold. */
  rates?: { requests: number | null; records: number | null }
}

// A Postgres that hangs must not use up the pool: a connection whose answer is late is closed.
const answerWithin = 5_000

/** A key that may be used now, found by its hash: Postgres works as long for a key_id that does not exist. */
export const findKey = (pool: Pool, hash: Buffer): Promise<StoredKey | undefined> =>
  firstRow(pool, {
    name: 'find-key',
    text: `
      select key_id as "keyId", org_id as "orgId", key_hash as hash, scopes, is_operator as "isOperator",
        floor(extract(epoch from expires_at - now()) * 1000)::bigint as "expiresIn",
        json_build_object('requests', requests_per_second, 'records', records_per_second) as rates
      from auth.api_keys
      join auth.organisations using (org_id)
      where key_hash = $1
        and revoked_at is null
        and (expires_at is null or expires_at > now())`,
    values: [hash],
    query_timeout: answerWithin,
  })

/** A key whether it may be used or not. */
export const findKeyByHash = (connection: Connection, hash: Buffer): Promise<Key | undefined> =>
  firstRow(connection, `select ${keyColumns} from auth.api_keys where key_hash = $1`, [hash])

/** The organisation of a key, whether it may be used or not. */
export const findKeyOrg = async (pool: Pool, keyId: string): Promise<string | undefined> =>
  (await firstRow<{ org: string }>(pool, `select org_id as org from auth.api_keys where key_id = $1`, [keyId]))?.org

/** A key, locked until the transaction ends, so that two rotations of it come one after the other. */
export const lockKey = (connection: Connection, keyId: string): Promise<Key | undefined> =>
  firstRow(connection, `select ${keyColumns} from auth.api_keys where key_id = $1 for update`, [keyId])

/** The keys of one organisation, or with null of all, without their hashes; by organisation, the oldest first. */
export const listKeys = (db: Pool, org: string | null, { after, most }: ListPart = {}): Promise<Key[]> =>
  rowsOf(
    db,
    `select ${keyColumns}
    from auth.api_keys
    where ($1::text is null or org_id = $1)
      and ($2::text is null or (org_id, created_at, key_id) >
        (select last.org_id, last.created_at, last.key_id from auth.api_keys last where last.key_id = $2))
    order by org_id, created_at, key_id
    limit $3`,
    [org, after, most],
  )

/** Lets a key expire `grace` milliseconds from now, or earlier where it would have expired earlier anyway. */
export const endKey = async (connection: Connection, keyId: string, grace: number): Promise<Date> => {
  const { rows } = await connection.query<{ expires_at: Date }>(
    `update auth.api_keys
    set expires_at = least(expires_at, now() + $2 * interval '1 millisecond')
    where key_id = $1
    returning expires_at`,
    [keyId, grace],
  )
  if (!rows[0]) throw new Error(`the key ${keyId} has gone while it was held`)
  return rows[0].expires_at
}

export type Revoked = { key_id: string; org: string; revoked_at: Date; already: boolean }

/** A key that was revoked before keeps that moment; undefined where there is no such key. */
export const revokeKey = (db: Pool | Connection, keyId: string): Promise<Revoked | undefined> =>
  firstRow(
    db,
    `update auth.api_keys
    set revoked_at = coalesce(revoked_at, now())
    where key_id = $1
    returning key_id, org_id as org, revoked_at, revoked_at < now() as already`,
    [keyId],
  )

/** Notes that these keys were just used. */
export const touchKeys = async (pool: Pool, keyIds: readonly string[]): Promise<void> => {
  await pool.query({
    name: 'touch-keys',
    text: `update auth.api_keys set last_used_at = now() where key_id = any ($1::text[])`,
    values: [keyIds],
  })
}
