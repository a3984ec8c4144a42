import type { Connection } from '#platform/postgres/postgres.js'

export type Row = { orgId: string; type: string; id: string }

// In the order that integrity inserts in: it may be writing the same rows, and neither must wait for the other in a ring.
export const insertRebuilt = async (connection: Connection, rows: readonly Row[]): Promise<void> => {
  await connection.query({
    name: 'insert-rebuilt',
    text: `
      insert into integrity.entities_rebuilt (org_id, type, id)
      select distinct * from unnest($1::text[], $2::text[], $3::uuid[]) as given (org_id, type, id)
      order by 1, 2, 3
      on conflict do nothing`,
    values: [rows.map((r) => r.orgId), rows.map((r) => r.type), rows.map((r) => r.id)],
  })
}
