import type { Connection, Pool } from '#platform/postgres/postgres.js'

/** Whether it was created; false where it was there already. */
export const createOrg = async (db: Pool | Connection, org: string): Promise<boolean> => {
  const { rowCount } = await db.query(`insert into auth.organisations (org_id) values ($1) on conflict do nothing`, [
    org,
  ])
  return rowCount === 1
}
