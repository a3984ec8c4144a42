import type { Connection, Pool } from '#platform/postgres/postgres.js'
import { firstRow, rowsOf } from '#platform/postgres/rows.js'
import type { Doer } from './audit.js'

// auth.organisations: whose data it is, and how much of it may come in a second.

/** Whether it was created; false where it was there already. */
export const createOrg = async (db: Pool | Connection, org: string): Promise<boolean> => {
  const { rowCount } = await db.query(`insert into auth.organisations (org_id) values ($1) on conflict do nothing`, [
    org,
  ])
  return rowCount === 1
}

export const hasOrg = async (db: Pool, org: string): Promise<boolean> => {
  const { rowCount } = await db.query(`select from auth.organisations where org_id = $1`, [org])
  return rowCount === 1
}

export type Organisation = OrgLimits & { org: string; created_at: Date; active_keys: number }

/** Which part of a list is asked for: at most `most` rows, behind the one with the id `after`. Without either, all of it. */
export type ListPart = { after?: string | undefined; most?: number | undefined }

/** The organisations in the order of their ids; with a prefix, only those whose ids begin so. */
export const listOrgs = (
  db: Pool,
  { after, most, prefix }: ListPart & { prefix?: string | undefined } = {},
): Promise<Organisation[]> =>
  rowsOf(
    db,
    // Keys are counted for those organisations alone that are shown.
    `select
      o.org_id as org,
      o.created_at,
      o.requests_per_second,
      o.records_per_second,
      (
        select count(*)
        from auth.api_keys k
        where k.org_id = o.org_id and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
      ) as active_keys
    from auth.organisations o
    where ($1::text is null or o.org_id > $1) and ($2::text is null or o.org_id ^@ $2)
    order by o.org_id
    limit $3`,
    [after, prefix, most],
  )

/** null: what the edges give to everybody; 0: no limit. */
export type OrgLimits = { requests_per_second: number | null; records_per_second: number | null }

/** Sets the limits that are given; a trigger notifies the edges. Undefined where there is no such organisation. */
export const setOrgLimits = (
  db: Pool,
  org: string,
  given: Partial<OrgLimits>,
  by: Doer,
): Promise<OrgLimits | undefined> =>
  firstRow(
    db,
    `with changed as (
      update auth.organisations
      set requests_per_second = case when $2 then $3::integer else requests_per_second end,
        records_per_second = case when $4 then $5::integer else records_per_second end
      where org_id = $1
      returning requests_per_second, records_per_second
    ),
    noted as (
      insert into auth.audit (org_id, actor, action, subject, request_id, details)
      select $1, $6, 'limits_set', $1, $7, to_jsonb(changed) from changed where $2 or $4
    )
    select requests_per_second, records_per_second from changed`,
    [
      org,
      given.requests_per_second !== undefined,
      given.requests_per_second ?? null,
      given.records_per_second !== undefined,
      given.records_per_second ?? null,
      by.actor,
      by.requestId ?? null,
    ],
  )
