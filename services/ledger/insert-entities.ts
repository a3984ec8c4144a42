import type { Connection } from '#platform/postgres/postgres.js'
import type { Entity } from './entities.js'

// Ordered, so that two transactions that insert the same ids wait for each other instead of deadlocking.
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
