import type { Connection } from '#platform/postgres/postgres.js'

/** Which table the entity index is at present: `weir rebuild index` puts another one in its place, under the same name. */
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
