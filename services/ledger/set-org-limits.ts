import type { Pool } from '#platform/postgres/postgres.js'

/** null: what the edges give to everybody; 0: no limit. */
export type OrgLimits = { requests_per_second: number | null; records_per_second: number | null }

/** Sets those limits that are given, and tells all; undefined where there is no such organisation. */
export const setOrgLimits = async (
  db: Pool,
  org: string,
  given: Partial<OrgLimits>,
): Promise<OrgLimits | undefined> => {
  const { rows } = await db.query<OrgLimits>(
    `
    update auth.organisations
    set requests_per_second = case when $2 then $3::integer else requests_per_second end,
      records_per_second = case when $4 then $5::integer else records_per_second end
    where org_id = $1
    returning requests_per_second, records_per_second`,
    [
      org,
      given.requests_per_second !== undefined,
      given.requests_per_second ?? null,
      given.records_per_second !== undefined,
      given.records_per_second ?? null,
    ],
  )
  return rows[0]
}
