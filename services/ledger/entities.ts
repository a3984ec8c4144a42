import type { Connection, Pool } from '#platform/postgres/postgres.js'

// integrity.entities: every record that another one may refer to. It only grows: a soft delete does not remove an entity.

export type Entity = { orgId: string; type: string; id: string }

/** A text that is the same for the same entity. */
export const entityName = ({ orgId, type, id }: Entity): string => `${orgId}/${type}/${id}`

/** Which of these exist. */
export const findEntities = async (connection: Connection | Pool, wanted: readonly Entity[]): Promise<Entity[]> => {
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

/**
 * Inserts those that are new. Ordered, so that two transactions with the same ids wait for each other instead of
 * deadlocking.
 */
export const insertEntities = async (connection: Connection, entities: readonly Entity[]): Promise<void> => {
  await connection.query({
    name: 'insert-entities',
    text: `
      insert into integrity.entities (org_id, type, id)
      select * from unnest($1::text[], $2::text[], $3::uuid[]) as given (org_id, type, id)
      order by 1, 2, 3
      on conflict do nothing`,
    values: [entities.map((e) => e.orgId), entities.map((e) => e.type), entities.map((e) => e.id)],
  })
}

/**
 * Postgres's id of the table that is the entity index now: `weir rebuild index` puts another table there, under the same
 * name.
 */
export const findIndexId = async (connection: Connection): Promise<number | undefined> => {
  const { rows } = await connection.query<{ oid: number }>({
    name: 'find-index-id',
    text: `
      select oid
      from pg_catalog.pg_class
      where relnamespace = 'integrity'::regnamespace and relname = 'entities'`,
  })
  return rows[0]?.oid
}
