import type { Connection } from '#platform/postgres/postgres.js'

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
