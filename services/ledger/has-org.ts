import type { Pool } from '#platform/postgres/postgres.js'

export const hasOrg = async (db: Pool, org: string): Promise<boolean> => {
  const { rowCount } = await db.query(`select from auth.organisations where org_id = $1`, [org])
  return rowCount === 1
}
