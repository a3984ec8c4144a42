import type { Pool } from '#platform/postgres/postgres.js'
import type { OrgLimits } from './set-org-limits.js'

export type Organisation = OrgLimits & { org: string; created_at: Date; active_keys: number }

export const listOrgs = async (db: Pool): Promise<Organisation[]> => {
  const { rows } = await db.query<Organisation>(`
    select
      o.org_id as org,
      o.created_at,
      o.requests_per_second,
      o.records_per_second,
      count(k.key_id) filter (where k.revoked_at is null and (k.expires_at is null or k.expires_at > now())) as active_keys
    from auth.organisations o
    left join auth.api_keys k on k.org_id = o.org_id
    group by o.org_id
    order by o.org_id`)
  return rows
}
