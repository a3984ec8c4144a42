import type { Pool } from '#platform/postgres/postgres.js'

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
