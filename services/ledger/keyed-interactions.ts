import type { Connection, Pool } from '#platform/postgres/postgres.js'

// integrity.keyed_interactions: interactions that came with an Idempotency-Key. Each is taken once.

export type Keyed = { orgId: string; id: string }

/** SHA-256 of the bodies that these interactions came with when they were taken, by `org/id`; absent where they were not. */
export const findKeyedInteractions = async (
  connection: Connection,
  keyed: readonly Keyed[],
): Promise<Map<string, Buffer>> => {
  if (keyed.length === 0) return new Map()
  const { rows } = await connection.query<{ org_id: string; interaction_id: string; body_sha256: Buffer }>({
    name: 'find-keyed-interactions',
    text: `
      select k.org_id, k.interaction_id, k.body_sha256
      from unnest($1::text[], $2::uuid[]) as wanted (org_id, interaction_id)
      join integrity.keyed_interactions k using (org_id, interaction_id)`,
    values: [keyed.map((k) => k.orgId), keyed.map((k) => k.id)],
  })
  return new Map(rows.map((row) => [`${row.org_id}/${row.interaction_id}`, row.body_sha256]))
}

/** An interaction that came with an Idempotency-Key and was taken. */
export type KeyedInteraction = { bodySha256: Buffer; recordedAt: number }

export const findKeyedInteraction = async (
  pool: Pool,
  orgId: string,
  interactionId: string,
): Promise<KeyedInteraction | undefined> => {
  const { rows } = await pool.query<{ body_sha256: Buffer; recorded_at: Date }>({
    name: 'find-keyed-interaction',
    text: `
      select body_sha256, recorded_at
      from integrity.keyed_interactions
      where org_id = $1 and interaction_id = $2::uuid`,
    values: [orgId, interactionId],
  })
  const [row] = rows
  return row && { bodySha256: row.body_sha256, recordedAt: row.recorded_at.getTime() }
}

export type TakenInteraction = { orgId: string; id: string; bodySha256: Buffer; recordedAt: number }

export const insertKeyedInteractions = async (
  connection: Connection,
  taken: readonly TakenInteraction[],
): Promise<void> => {
  if (taken.length === 0) return
  await connection.query({
    name: 'insert-keyed-interactions',
    text: `
      insert into integrity.keyed_interactions (org_id, interaction_id, body_sha256, recorded_at)
      select * from unnest($1::text[], $2::uuid[], $3::bytea[], $4::timestamptz[])
      on conflict do nothing`,
    values: [
      taken.map((t) => t.orgId),
      taken.map((t) => t.id),
      taken.map((t) => t.bodySha256),
      taken.map((t) => new Date(t.recordedAt)),
    ],
  })
}

/**
 * Removes at most `most` that were recorded before a moment. Rows that another process is removing are left to that
 * process.
 */
export const pruneKeyedInteractions = async (pool: Pool, before: Date, most: number): Promise<number> => {
  const { rowCount } = await pool.query({
    name: 'prune-keyed-interactions',
    text: `
      delete from integrity.keyed_interactions
      where (org_id, interaction_id) in (
        select org_id, interaction_id
        from integrity.keyed_interactions
        where recorded_at < $1
        order by recorded_at
        limit $2
        for update skip locked
      )`,
    values: [before, most],
  })
  return rowCount ?? 0
}

export const countPrunableKeyed = async (pool: Pool, before: Date): Promise<number> => {
  const { rows } = await pool.query<{ count: number }>(
    'select count(*) as count from integrity.keyed_interactions where recorded_at < $1',
    [before],
  )
  return rows[0]?.count ?? 0
}
