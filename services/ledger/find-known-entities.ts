import type { Pool } from '#platform/postgres/postgres.js'
import type { Reference } from '#schemas/record.js'

type Entity = Pick<Reference, 'type' | 'id'>

/** Which of these exist in an organisation. */
export const findKnownEntities = async (pool: Pool, orgId: string, wanted: readonly Entity[]): Promise<Entity[]> => {
  const { rows } = await pool.query<Entity>({
    name: 'find-known-entities',
    text: `
      select distinct type, id
      from unnest($2::text[], $3::uuid[]) as wanted (type, id)
      join integrity.entities e using (type, id)
      where e.org_id = $1`,
    values: [orgId, wanted.map(({ type }) => type), wanted.map(({ id }) => id)],
  })
  return rows
}
