import { textList, uuidList } from '#platform/postgres/lists.js'
import type { Connection, Pool } from '#platform/postgres/postgres.js'
import { changedBy, firstRow } from '#platform/postgres/rows.js'

// integrity.entities: every record that another one may refer to. It grows: a soft delete does not remove an entity. Only what is erased, or
// kept no longer, leaves it.

export type Entity = { orgId: string; type: string; id: string }

/** A text that is the same for the same entity. */
export const entityName = ({ orgId, type, id }: Entity): string => `${orgId}/${type}/${id}`

/** Which of these exist. Nearly all of them do, so Postgres names those that do not. */
export const findEntities = async (connection: Connection | Pool, wanted: readonly Entity[]): Promise<Entity[]> => {
  const { rows } = await connection.query<{ place: number }>({
    name: 'find-missing-entities',
    // `limit 1` keeps Postgres from reading the whole index where it expects to find much of it.
    text: `
      select wanted.place
      from unnest($1::text[], $2::text[], $3::uuid[]) with ordinality as wanted (org_id, type, id, place)
      left join lateral (
        select true as is_there
        from integrity.entities e
        where e.org_id = wanted.org_id and e.type = wanted.type and e.id = wanted.id
        limit 1
      ) as found on true
      where found.is_there is null`,
    values: entityLists(wanted),
  })
  const missing = new Set(rows.map(({ place }) => place - 1))
  return wanted.filter((_, place) => !missing.has(place))
}

// Ordered, so that two transactions with the same ids wait for each other instead of deadlocking.
const insert = `
  insert into integrity.entities (org_id, type, id)
  select distinct * from unnest($1::text[], $2::text[], $3::uuid[]) as given (org_id, type, id)
  order by 1, 2, 3`

/** Entities as three lists: of organisations, types and ids. */
export const entityLists = (entities: readonly Entity[]) => [
  textList(entities.map((e) => e.orgId)),
  textList(entities.map((e) => e.type)),
  uuidList(entities.map((e) => e.id)),
]

/** Inserts those that are new. Resolves to whether all of them were. */
export const insertEntities = async (connection: Connection, entities: readonly Entity[]): Promise<boolean> => {
  const text = `${insert} on conflict do nothing`
  const { rowCount } = await connection.query({ name: 'insert-entities', text, values: entityLists(entities) })
  return rowCount === entities.length
}

/** Inserts entities thought to be new, for half the CPU. Where one is there after all, nothing is inserted: false. */
export const insertNewEntities = async (connection: Connection, entities: readonly Entity[]): Promise<boolean> => {
  const marked = connection.query('savepoint new_entities')
  try {
    const inserted = connection.query({ name: 'insert-new-entities', text: insert, values: entityLists(entities) })
    await Promise.all([marked, inserted])
    return true
  } catch (error) {
    if ((error as { code?: string }).code !== uniqueViolation) throw error
    await connection.query('rollback to savepoint new_entities')
    return false
  }
}

const uniqueViolation = '23505'

/**
 * What the entity index is now: `weir rebuild index` puts another table under the same name, and whoever removes entities counts that. As long
 * as this is the same, what was in the index is in it.
 */
export const findIndexId = async (connection: Connection): Promise<string | undefined> => {
  const text = `
    select oid || '/' || (select change from integrity.index_changes) as id
    from pg_catalog.pg_class
    where relnamespace = 'integrity'::regnamespace and relname = 'entities'`
  return (await firstRow<{ id: string }>(connection, { name: 'find-index-id', text }))?.id
}

/** Stands before a statement that deletes from the index: whoever remembers what is there has to look again. */
export const countingRemoval = 'with counted as (update integrity.index_changes set change = change + 1)'

export const removeEntities = (connection: Connection, entities: readonly Entity[]): Promise<number> =>
  changedBy(
    connection,
    `${countingRemoval} delete from integrity.entities
    where (org_id, type, id) in (select * from unnest($1::text[], $2::text[], $3::uuid[]))`,
    entityLists(entities),
  )
