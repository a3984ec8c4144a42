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

// Ordered, so that two transactions with the same ids wait for each other instead of deadlocking.
const insert = `
  insert into integrity.entities (org_id, type, id)
  select distinct * from unnest($1::text[], $2::text[], $3::uuid[]) as given (org_id, type, id)
  order by 1, 2, 3`

const valuesOf = (entities: readonly Entity[]) => [
  entities.map((e) => e.orgId),
  entities.map((e) => e.type),
  entities.map((e) => e.id),
]

/** Inserts those that are new. Resolves to whether all of them were. */
export const insertEntities = async (connection: Connection, entities: readonly Entity[]): Promise<boolean> => {
  const text = `${insert} on conflict do nothing`
  const { rowCount } = await connection.query({ name: 'insert-entities', text, values: valuesOf(entities) })
  return rowCount === entities.length
}

/**
 * Inserts entities that are thought to be new, for half the CPU: Postgres need not be ready for one that is there already.
 * Where there is one after all, nothing is inserted and the transaction goes on; resolves to whether they were inserted.
 */
export const insertNewEntities = async (connection: Connection, entities: readonly Entity[]): Promise<boolean> => {
  await connection.query('savepoint new_entities')
  try {
    await connection.query({ name: 'insert-new-entities', text: insert, values: valuesOf(entities) })
    return true
  } catch (error) {
    if ((error as { code?: string }).code !== uniqueViolation) throw error
    await connection.query('rollback to savepoint new_entities')
    return false
  }
}

const uniqueViolation = '23505'

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
