import type { Connection } from '#platform/postgres/postgres.js'

export type Entity = { orgId: string; type: string; id: string }

export const findEntities = async (connection: Connection, wanted: readonly Entity[]): Promise<Entity[]> => {
  const { rows } = await connection.query<{ org_id: string; type: string; id: string }>({
    name: 'find-entities',
    text: `
      select e.org_id, e.type, e.id
      from unnest($1::text[], $2::text[], $3::uuid[]) as wanted (org_id, type, id)
      join integrity.entities e using (org_id, type, id)`,
    values: [wanted.map((e) => e.orgId), wanted.map((e) => e.type), wanted.map((e) => e.id)],
  })
  return rows.map(({ org_id, type, id }) => ({ orgId: org_id, type, id }))
}
