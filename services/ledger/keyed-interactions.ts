import type { Connection } from '#platform/postgres/postgres.js'

export type Keyed = { orgId: string; id: string }

/** SHA-256 of the bodies that these interactions came with when they were taken, by `org/id`. */
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
