import type { Connection, Pool } from '#platform/postgres/postgres.js'
import { changedBy, type Database, firstRow, listsOf, rowsOf } from '#platform/postgres/rows.js'
import type { Doer } from './audit.js'

// auth.organisations: whose data it is, and how much of it may come in a second.

/** An id that is not given again: what refers to it, such as a backup or a subscriber's copy, would get a second meaning. */
export class DeletedOrg extends Error {
  constructor(org: string) {
    super(`the organisation ${org} was deleted, and its id is not given again: choose another one`)
  }
}

/** Whether it was created; false where it was there already. Throws DeletedOrg. */
export const createOrg = async (db: Pool | Connection, org: string): Promise<boolean> => {
  const { rowCount } = await db.query(`insert into auth.organisations (org_id) values ($1) on conflict do nothing`, [
    org,
  ])
  if (rowCount === 0 && (await isDeletedOrg(db, org))) throw new DeletedOrg(org)
  return rowCount === 1
}

const isDeletedOrg = async (db: Database, org: string): Promise<boolean> => {
  const { rowCount } = await db.query(`select from auth.organisations where org_id = $1 and deleted_at is not null`, [
    org,
  ])
  return rowCount === 1
}

export const hasOrg = async (db: Database, org: string): Promise<boolean> => {
  const { rowCount } = await db.query(`select from auth.organisations where org_id = $1 and deleted_at is null`, [org])
  return rowCount === 1
}

/** From the commit on, no key of it is taken, and nothing is delivered for it. */
export const closeOrg = async (db: Database, org: string): Promise<void> => {
  await changedBy(db, 'update auth.organisations set deleted_at = now() where org_id = $1 and deleted_at is null', [
    org,
  ])
  await changedBy(db, 'update auth.api_keys set revoked_at = now() where org_id = $1 and revoked_at is null', [org])
  await changedBy(
    db,
    `update delivery.webhooks
    set disabled_at = now(), disabled_reason = 'the organisation is deleted'
    where org_id = $1 and disabled_at is null`,
    [org],
  )
}

export type Organisation = OrgLimits & { org: string; created_at: Date; active_keys: number }

/** Which part of a list is asked for: at most `most` rows, behind the one with the id `after`. Without either, all of it. */
export type ListPart = { after?: string | undefined; most?: number | undefined }

// Keys are counted for those organisations alone that are shown.
const orgColumns = `o.org_id as org, o.created_at, o.requests_per_second, o.records_per_second, (
    select count(*)
    from auth.api_keys k
    where k.org_id = o.org_id and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
  ) as active_keys`

/** The organisations in the order of their ids; with a prefix, only those whose ids begin so. */
export const listOrgs = (
  db: Pool,
  { after, most, prefix }: ListPart & { prefix?: string | undefined } = {},
): Promise<Organisation[]> =>
  rowsOf(
    db,
    `select ${orgColumns}
    from auth.organisations o
    where o.deleted_at is null and ($1::text is null or o.org_id > $1) and ($2::text is null or o.org_id ^@ $2)
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
      where org_id = $1 and deleted_at is null
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

/** The ids of all organisations; with a prefix, of those whose ids begin so. */
export const listOrgIds = async (db: Pool, prefix = ''): Promise<string[]> => {
  const rows = await rowsOf<{ org: string }>(
    db,
    `select org_id as org from auth.organisations where deleted_at is null and org_id ^@ $1 order by org_id`,
    [prefix],
  )
  return rows.map(({ org }) => org)
}

/** These organisations, with how often they met their limits since the hour of a moment. */
export const describeOrgs = (
  db: Pool,
  orgs: readonly string[],
  since: Date,
): Promise<(Organisation & { limited: number })[]> =>
  rowsOf(
    db,
    `select ${orgColumns}, (
        select coalesce(sum(hits), 0)::bigint
        from auth.limit_hits h
        where h.org_id = o.org_id and h.hour >= date_trunc('hour', $2::timestamptz)
      ) as limited
    from auth.organisations o
    where o.org_id = any ($1::text[])`,
    [orgs, since],
  )

/** Adds requests that were answered 429, to this hour's by Postgres's clock. */
export const addLimitHits = async (db: Pool, hits: readonly { org: string; hits: number }[]): Promise<void> => {
  await db.query({
    name: 'add-limit-hits',
    // In one order, so that two edges do not wait for each other.
    text: `
      insert into auth.limit_hits as known (org_id, hour, hits)
      select org_id, date_trunc('hour', now()), hits
      from unnest($1::text[], $2::bigint[]) as added (org_id, hits)
      order by org_id
      on conflict (org_id, hour) do update set hits = known.hits + excluded.hits`,
    values: listsOf(hits, 'org', 'hits'),
  })
}

/** Removes the hours before a moment, at most `most` rows. */
export const pruneLimitHits = (db: Pool, before: Date, most: number): Promise<number> =>
  changedBy(
    db,
    `delete from auth.limit_hits
    where (org_id, hour) in (
      select org_id, hour from auth.limit_hits where hour < $1 order by hour limit $2 for update skip locked
    )`,
    [before, most],
  )

/** Bytes that the database takes, indexes included. */
export const sizeOfDatabase = async (db: Pool): Promise<number> =>
  (await firstRow<{ bytes: number }>(db, 'select pg_database_size(current_database()) as bytes'))?.bytes ?? 0
