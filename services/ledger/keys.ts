import type { Connection, Pool } from '#platform/postgres/postgres.js'
import { type Database, firstRow, rowsOf } from '#platform/postgres/rows.js'
import { actorSql, commandLine, type Doer, type KnownActor, noteAudit } from './audit.js'
import { createKeyText, hashKey } from './key-text.js'
import { createOrg, type ListPart } from './organisations.js'

// auth.api_keys: who may send. Only the hash of a key's text is kept. A trigger notifies every edge of each change.

/** A key as it is kept: everything but its secret. */
export type Key = {
  key_id: string
  name: string | null
  org: string
  /** null: all of them */
  scopes: string[] | null
  created_at: Date
  expires_at: Date | null
  revoked_at: Date | null
  last_used_at: Date | null
  is_operator: boolean
}

/** A key, and who made and revoked it; null where that is not known, or did not happen. */
export type KeyWithMakers = Key & { created_by: KnownActor | null; revoked_by: KnownActor | null }

const keyColumns = [
  ...['key_id', 'name', 'org_id as org', 'scopes', 'created_at', 'expires_at', 'revoked_at', 'last_used_at'],
  'is_operator',
]

export type ApiKeyState = 'active' | 'expired' | 'revoked'

export const stateOf = (key: Pick<Key, 'expires_at' | 'revoked_at'>, now: Date): ApiKeyState => {
  if (key.revoked_at) return 'revoked'
  return key.expires_at && key.expires_at <= now ? 'expired' : 'active'
}

export type NewKey = {
  keyId: string
  hash: Buffer
  org: string
  name?: string | null | undefined
  scopes: readonly string[] | null
  /** Milliseconds from now, by the clock of Postgres; null: the key does not expire. */
  lifetime: number | null
  isOperator?: boolean
}

export const insertKey = async (
  db: Database,
  key: NewKey & { createdBy?: string | undefined },
): Promise<Pick<Key, 'expires_at'>> => {
  const made = await firstRow<Pick<Key, 'expires_at'>>(
    db,
    `insert into auth.api_keys (key_id, org_id, key_hash, scopes, expires_at, is_operator, name, created_by)
    values ($1, $2, $3, $4, now() + $5 * interval '1 millisecond', $6, $7, $8)
    returning expires_at`,
    [
      ...[key.keyId, key.org, key.hash, key.scopes, key.lifetime, key.isOperator ?? false],
      ...[key.name ?? null, key.createdBy ?? null],
    ],
  )
  if (!made) throw new Error('Postgres took the key and gave no row back')
  return made
}

/** A key that was just made, with its text: it is never known again. */
export type IssuedKey = { keyId: string; key: string; expires_at: Date | null }

/** Makes a key; an organisation that does not exist yet is created. */
export const issueKey = async (
  connection: Connection,
  wanted: Omit<NewKey, 'keyId' | 'hash'>,
  by: Doer,
): Promise<IssuedKey & { isNewOrg: boolean }> => {
  const { keyId, key } = createKeyText()
  const isNewOrg = await createOrg(connection, wanted.org)
  const { expires_at } = await insertKey(connection, { ...wanted, keyId, hash: hashKey(key), createdBy: by.actor })
  const { org, name = null, scopes, isOperator = false } = wanted
  const details = { name, scopes, expires_at, ...(isOperator && { is_operator: true }) }
  await noteAudit(connection, by, { org, action: 'key_issued', subject: keyId, details })
  return { keyId, key, isNewOrg, expires_at }
}

/** Makes a key like a locked one, which ends in `grace` ms. */
export const rotateKey = async (
  connection: Connection,
  old: Key,
  { grace, lifetime }: { grace: number; lifetime: number | null },
  by: Doer,
): Promise<IssuedKey & { endsAt: Date }> => {
  const { keyId, key } = createKeyText()
  const { key_id, org, name, scopes, is_operator: isOperator } = old
  const like = { org, name, scopes, lifetime, isOperator }
  const { expires_at } = await insertKey(connection, { ...like, keyId, hash: hashKey(key), createdBy: by.actor })
  const endsAt = await endKey(connection, key_id, grace, by)
  const details = { key_id: keyId, expires_at, old_ends_at: endsAt }
  await noteAudit(connection, by, { org, action: 'key_rotated', subject: key_id, details })
  return { keyId, key, expires_at, endsAt }
}

/** How long a key was given when it was made; a key that was meant to run out is not replaced by one that never does. */
export const givenLife = ({ expires_at, created_at }: Pick<Key, 'expires_at' | 'created_at'>): number | null =>
  expires_at && expires_at.getTime() - created_at.getTime()

/** What bounds a key that manages those of its organisation. */
export type Manager = {
  scopes: string[] | null
  /** Milliseconds, by Postgres's clock; null: it does not expire. */
  expiresIn: number | null
  /** Keys of its organisation that may be used, and how often keys were changed there by keys in the last 24 hours. */
  activeKeys: number
  changes: number
}

/**
 * Looks again at a key that is about to change others, since an edge may remember a revoked one for a while; undefined where it has
 * ended. Its organisation is locked until the transaction ends: the changes there come one after the other, and are counted right.
 */
export const lockManager = async (
  connection: Connection,
  { org, keyId }: { org: string; keyId: string },
): Promise<Manager | undefined> => {
  await connection.query(`select from auth.organisations where org_id = $1 for no key update`, [org])
  return firstRow(
    connection,
    `select scopes, floor(extract(epoch from expires_at - clock_timestamp()) * 1000)::bigint as "expiresIn",
      (select count(*) from auth.api_keys k where k.org_id = $1 and ${isActive('k')}) as "activeKeys",
      (
        select count(*)
        from auth.audit
        where org_id = $1 and at > now() - interval '24 hours' and action like 'key\\_%' and actor <> $3
      ) as changes
    from auth.api_keys own
    where own.org_id = $1 and own.key_id = $2 and ${isActive('own')}`,
    [org, keyId, commandLine.actor],
  )
}

/** Keys that are in use and end soon, the first to end first: active, used in the last 30 days. */
export const listEndingKeys = (db: Database, within: number, most: number): Promise<EndingKey[]> =>
  rowsOf(db, `select key_id, name, org_id as org, expires_at ${endingKeys} order by expires_at limit $2`, [
    within,
    most,
  ])

export const countEndingKeys = async (db: Database, within: number): Promise<number> =>
  (await firstRow<{ keys: number }>(db, `select count(*) as keys ${endingKeys}`, [within]))?.keys ?? 0

export type EndingKey = Pick<Key, 'key_id' | 'name' | 'org'> & { expires_at: Date }

const endingKeys = `
  from auth.api_keys
  where revoked_at is null and expires_at > now() and expires_at < now() + $1 * interval '1 millisecond'
    and last_used_at > now() - interval '30 days'`

/** By the time of now: a transaction's own is that of its beginning, and it may have waited for a lock since. */
const isActive = (key: string): string =>
  `${key}.revoked_at is null and (${key}.expires_at is null or ${key}.expires_at > clock_timestamp())`

/** Sets the text of a key to a chosen one. A text that the key had before is no longer valid. */
export const setKeyText = async (
  connection: Connection,
  key: { keyId: string; hash: Buffer; org: string },
): Promise<void> => {
  await connection.query(
    `insert into auth.api_keys (key_id, org_id, key_hash, created_by)
    values ($1, $2, $3, $4)
    on conflict (key_id) do update
    set key_hash = excluded.key_hash, scopes = null, created_at = now(),
      expires_at = null, revoked_at = null, last_used_at = null, created_by = excluded.created_by, revoked_by = null
    where api_keys.org_id = excluded.org_id`,
    [key.keyId, key.org, key.hash, commandLine.actor],
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
        and deleted_at is null
        and revoked_at is null
        and (expires_at is null or expires_at > now())`,
    values: [hash],
    query_timeout: answerWithin,
  })

/** Whether operators work with keys of this organisation. */
export const hasOperatorKeys = async (db: Database, org: string): Promise<boolean> =>
  (await firstRow(db, `select from auth.api_keys k where org_id = $1 and is_operator and ${isActive('k')} limit 1`, [
    org,
  ])) !== undefined

/** A key whether it may be used or not. */
export const findKeyByHash = (connection: Connection, hash: Buffer): Promise<Key | undefined> =>
  firstRow(connection, `select ${keyColumns.join(', ')} from auth.api_keys where key_hash = $1`, [hash])

/** Whose keys somebody may change: those of one organisation, but no operator's; or everybody's, where none is named. */
type Whose = { org?: string | undefined }
const ofWhom = (org: string): string => `(${org}::text is null or (org_id = ${org} and not is_operator))`

/** The organisation of a key, whether it may be used or not. */
export const findKeyOrg = async (pool: Pool, keyId: string): Promise<string | undefined> =>
  (await firstRow<{ org: string }>(pool, `select org_id as org from auth.api_keys where key_id = $1`, [keyId]))?.org

/** A key, locked until the transaction ends, so that two rotations of it come one after the other. */
export const lockKey = (connection: Connection, keyId: string, { org }: Whose = {}): Promise<Key | undefined> =>
  firstRow(
    connection,
    `select ${keyColumns.join(', ')} from auth.api_keys where key_id = $1 and ${ofWhom('$2')} for update`,
    [keyId, org ?? null],
  )

/** Which keys are listed: of one organisation or, with null, of all; those that may be used, or the others; without operators'. */
export type KeyFilter = { org: string | null; state?: 'active' | 'ended' | undefined; leavesOperatorsOut?: boolean }

/** Keys without their hashes; by organisation, the oldest first. */
export const listKeys = (
  db: Pool,
  { org, state, leavesOperatorsOut = false }: KeyFilter,
  { after, most }: ListPart = {},
): Promise<KeyWithMakers[]> =>
  rowsOf(
    db,
    `select ${keyColumns.map((column) => `k.${column}`).join(', ')},
      ${actorSql('k.created_by', 'maker')} as created_by, ${actorSql('k.revoked_by', 'ender')} as revoked_by
    from auth.api_keys k
    left join auth.api_keys maker on maker.key_id = k.created_by
    left join auth.api_keys ender on ender.key_id = k.revoked_by
    where ($1::text is null or k.org_id = $1)
      and ($2::text is null or (k.org_id, k.created_at, k.key_id) > (
        select last.org_id, last.created_at, last.key_id
        from auth.api_keys last
        where last.key_id = $2 and ($1::text is null or last.org_id = $1)
      ))
      and ($4::boolean is null or (${isActive('k')}) = $4)
      and not ($5 and k.is_operator)
    order by k.org_id, k.created_at, k.key_id
    limit $3`,
    [org, after, most, state === undefined ? null : state === 'active', leavesOperatorsOut],
  )

/** Lets a key expire `grace` milliseconds from now, or earlier where it would have expired earlier anyway. */
export const endKey = async (connection: Connection, keyId: string, grace: number, by: Doer): Promise<Date> => {
  const { rows } = await connection.query<{ expires_at: Date }>(
    // Revoked where it ends at once: an edge whose clock is behind would still take a key that expires now.
    `update auth.api_keys
    set expires_at = least(expires_at, now() + $2 * interval '1 millisecond'),
      revoked_at = case when $2 = 0 then coalesce(revoked_at, now()) else revoked_at end,
      revoked_by = case when $2 = 0 and revoked_at is null then $3 else revoked_by end
    where key_id = $1
    returning expires_at`,
    [keyId, grace, by.actor],
  )
  if (!rows[0]) throw new Error(`the key ${keyId} has gone while it was held`)
  return rows[0].expires_at
}

export type Revoked = { key_id: string; org: string; revoked_at: Date; already: boolean }

/** A key that was revoked before keeps that moment; undefined where there is no such key. */
export const revokeKey = (db: Database, keyId: string, by: Doer, { org }: Whose = {}): Promise<Revoked | undefined> =>
  firstRow(
    db,
    `with before as (
      select key_id, revoked_at is not null as already
      from auth.api_keys
      where key_id = $1 and ${ofWhom('$2')}
      for update
    ),
    revoked as (
      update auth.api_keys k
      set revoked_at = coalesce(revoked_at, now()), revoked_by = case when already then revoked_by else $3 end
      from before
      where k.key_id = before.key_id
      returning k.key_id, k.org_id, k.revoked_at, already
    ),
    noted as (
      insert into auth.audit (org_id, actor, action, subject, request_id)
      select org_id, $3, 'key_revoked', key_id, $4 from revoked where not already
    )
    select key_id, org_id as org, revoked_at, already from revoked`,
    [keyId, org ?? null, by.actor, by.requestId ?? null],
  )

export type Renamed = { key_id: string; org: string; name: string | null }

/** Undefined where there is no such key. The name that it has already is noted nowhere. */
export const renameKey = (
  db: Database,
  { keyId, name }: { keyId: string; name: string | null },
  by: Doer,
  { org }: Whose = {},
): Promise<Renamed | undefined> =>
  firstRow(
    db,
    `with before as (
      select key_id, name from auth.api_keys where key_id = $1 and ${ofWhom('$2')} for update
    ),
    renamed as (
      update auth.api_keys k
      set name = $5
      from before
      where k.key_id = before.key_id
      returning k.key_id, k.org_id, before.name as was
    ),
    noted as (
      insert into auth.audit (org_id, actor, action, subject, request_id, details)
      select org_id, $3, 'key_renamed', key_id, $4, jsonb_build_object('name', $5::text, 'was', was)
      from renamed
      where was is distinct from $5
    )
    select key_id, org_id as org, $5::text as name from renamed`,
    [keyId, org ?? null, by.actor, by.requestId ?? null, name],
  )

/** Notes that these keys were just used. */
export const touchKeys = async (pool: Pool, keyIds: readonly string[]): Promise<void> => {
  await pool.query({
    name: 'touch-keys',
    text: `update auth.api_keys set last_used_at = now() where key_id = any ($1::text[])`,
    values: [keyIds],
  })
}
