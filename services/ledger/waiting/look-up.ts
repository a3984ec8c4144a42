import type { Pool } from '#platform/postgres/postgres.js'
import { countOf, type Database, firstRow, listsOf, rowsOf } from '#platform/postgres/rows.js'
import type { WaitState } from '#schemas/events.js'
import type { Problem } from '#schemas/problem.js'
import type { Reference } from '#schemas/record.js'
import { commandLine, type Doer } from '../audit.js'

// integrity.waiting as people see it: what waits, for what, and what became of it. Integrity's own side is in waits.ts.

/** A record that waits or waited. `batchId` and `place` say where it was first submitted, `index` is its place in the request. */
export type Wait = {
  orgId: string
  type: string
  id: string
  requestId: string
  batchId: string
  place: number
  index: number
  state: WaitState
  missing: Reference[]
  since: Date
  until: Date
  changedAt: Date
  problems: Problem[] | null
  acceptedVersion: number | null
}

const columns = `org_id as "orgId", type, id, request_id as "requestId", batch_id as "batchId", place,
  request_index as "index", state, missing, since, until, changed_at as "changedAt", problems,
  accepted_version as "acceptedVersion"`

/** All records of these batches that wait or waited. */
export const findWaitsOfBatches = async (db: Database, batchIds: readonly string[]): Promise<Wait[]> => {
  if (batchIds.length === 0) return []
  return rowsOf<Wait>(
    db,
    `select ${columns} from integrity.waiting where batch_id = any ($1::uuid[]) order by batch_id, place`,
    [batchIds],
  )
}

/** Which records are meant; those that wait now. Without an organisation, those of all of them. */
export type WaitFilter = {
  orgId?: string | undefined
  type?: string | undefined
  id?: string | undefined
  /** Only those that wait for this record. */
  missing?: { type: string; id: string } | undefined
}

const matching = `
  state = 'waiting' and ($1::text is null or w.org_id = $1) and ($2::text is null or w.type = $2)
  and ($3::uuid is null or w.id = $3)
  and ($4::text is null or exists (
    select from integrity.waiting_for f
    where f.org_id = w.org_id and f.type = $4 and f.id = $5::uuid and f.batch_id = w.batch_id and f.place = w.place
  ))`
const valuesOf = ({ orgId, type, id, missing }: WaitFilter) => [
  orgId ?? null,
  type ?? null,
  id ?? null,
  missing?.type ?? null,
  missing?.id ?? null,
]

/** Where a page ended. */
export type AfterWait = { since: Date; batchId: string; place: number }

/** Records that wait, the oldest first. */
export const findWaits = (
  db: Database,
  filter: WaitFilter,
  { after, limit }: { after?: AfterWait | undefined; limit: number },
): Promise<Wait[]> =>
  rowsOf(
    db,
    `select ${columns}
    from integrity.waiting w
    where ${matching} and ($6::timestamptz is null or (since, batch_id, place) > ($6, $7::uuid, $8::integer))
    order by since, batch_id, place
    limit $9`,
    [...valuesOf(filter), after?.since ?? null, after?.batchId ?? null, after?.place ?? null, limit],
  )

/** A record that is missing, how many records wait for it, since when the first of them, and until when the first of them. */
export type MissingRecord = {
  orgId: string
  type: string
  id: string
  waiting: number
  oldest: Date
  firstUntil: Date
}

/** Of one organisation ($1) or of all, and of one type ($2) or of all. */
const missingRecords = `
    select f.org_id as "orgId", f.type, f.id, count(*) as waiting, min(w.since) as oldest, min(w.until) as "firstUntil"
    from integrity.waiting_for f
    join integrity.waiting w using (batch_id, place)
    where ($1::text is null or f.org_id = $1) and ($2::text is null or f.type = $2)
    group by f.org_id, f.type, f.id`
type OfMissing = { orgId?: string | undefined; type?: string | undefined }

/** Where a page ended. */
export type AfterMissing = { oldest: Date; type: string; id: string }

/** What is waited for, that which is waited for the longest first. */
export const findMissing = (
  db: Database,
  { orgId, type }: OfMissing,
  { after, limit }: { after?: AfterMissing | undefined; limit: number },
): Promise<MissingRecord[]> =>
  rowsOf(
    db,
    `${missingRecords}
    having $3::timestamptz is null or (min(w.since), f.type, f.id) > ($3, $4::text, $5::uuid)
    order by min(w.since), f.type, f.id
    limit $6`,
    [orgId ?? null, type ?? null, after?.oldest ?? null, after?.type ?? null, after?.id ?? null, limit],
  )

/** How many records wait, and since when the oldest of them; of one organisation or of all. */
export const countWaiting = async (db: Database, orgId?: string): Promise<WaitingCount> =>
  (await firstRow<WaitingCount>(
    db,
    `select count(*) as waiting, min(since) as oldest
    from integrity.waiting
    where state = 'waiting' and ($1::text is null or org_id = $1)`,
    [orgId ?? null],
  )) ?? { waiting: 0, oldest: null }

/** How many records of an organisation wait; `most` where there are that many or more. */
export const countWaitingUpTo = async (db: Database, orgId: string, most: number): Promise<number> =>
  (
    await firstRow<{ waiting: number }>(db, {
      name: 'count-waiting-up-to',
      text: `
        select count(*) as waiting
        from (select 1 from integrity.waiting where org_id = $1 and state = 'waiting' limit $2) as counted`,
      values: [orgId, most],
    })
  )?.waiting ?? 0

export type WaitingCount = { waiting: number; oldest: Date | null }

/** Cancels at most `most` waiting records, the oldest first. One that its lane decides at this moment is decided. */
export const cancelWaits = (db: Database, filter: WaitFilter, most: number, by: Doer = commandLine): Promise<number> =>
  countOf(
    db,
    `with chosen as (
      select batch_id, place
      from integrity.waiting w
      where ${matching}
      order by since, batch_id, place
      limit $6
      for update skip locked
    ),
    cancelled as (
      update integrity.waiting w
      set state = 'cancelled', message = null, changed_at = now(), due_at = null,
        change = nextval('integrity.waiting_changes'), is_told = false
      from chosen
      where w.batch_id = chosen.batch_id and w.place = chosen.place
      returning w.batch_id, w.place, w.org_id, w.type
    ),
    noted as (
      insert into auth.audit (org_id, actor, action, subject, request_id, details)
      select org_id, $7, 'waiting_cancelled', string_agg(distinct type, ', ' order by type), $8,
        jsonb_build_object('records', count(*))
      from cancelled
      group by org_id
      -- Each row locks the chain of its organisation: in one order, so that two of these never wait for each other.
      order by org_id
    ),
    forgotten as (
      delete from integrity.waiting_for f
      using cancelled c
      where f.batch_id = c.batch_id and f.place = c.place
    )
    select count(*) as count from cancelled`,
    [...valuesOf(filter), most, by.actor, by.requestId ?? null],
  )

/** What is waited for, that for which the most records wait first. */
export const findMostMissed = (db: Pool, { orgId, type }: OfMissing, limit: number): Promise<MissingRecord[]> =>
  rowsOf(
    db,
    `${missingRecords}
    order by count(*) desc, min(w.since), f.type, f.id
    limit $3`,
    [orgId ?? null, type ?? null, limit],
  )

/** How many records are missing, and how many wait for them: of one organisation or of all, for one type or for all. */
export const countMissing = async (db: Pool, { orgId, type }: OfMissing): Promise<MissingCount> =>
  (await firstRow<MissingCount>(
    db,
    `select count(distinct (org_id, type, id)) as missing, count(distinct (batch_id, place)) as waiting
    from integrity.waiting_for
    where ($1::text is null or org_id = $1) and ($2::text is null or type = $2)`,
    [orgId ?? null, type ?? null],
  )) ?? { missing: 0, waiting: 0 }
type MissingCount = { missing: number; waiting: number }

/** How many records wait that are meant. */
export const countWaits = (db: Database, filter: WaitFilter): Promise<number> =>
  countOf(db, `select count(*) as count from integrity.waiting w where ${matching}`, valuesOf(filter))

/** The newest of one id that wait or waited. For operators: no index leads to those that have ended, so this may read long. */
export const findWaitsOfRecord = (
  db: Pool,
  { orgId, type, id }: { orgId?: string | undefined; type: string; id: string },
  limit: number,
): Promise<Wait[]> =>
  rowsOf(
    db,
    `select ${columns}
    from integrity.waiting
    where type = $1 and id = $2 and ($3::text is null or org_id = $3)
    order by since desc
    limit $4`,
    [type, id, orgId ?? null, limit],
  )

/** Which of these records of one type wait, by `org/id`. */
export const findIdsThatWait = async (
  db: Pool,
  type: string,
  wanted: readonly { orgId: string; id: string }[],
): Promise<Set<string>> => {
  if (wanted.length === 0) return new Set()
  const { rows } = await db.query<{ name: string }>(
    `select wanted.org_id || '/' || wanted.id as name
    from unnest($1::text[], $2::uuid[]) as wanted (org_id, id)
    cross join lateral (
      select from integrity.waiting where org_id = wanted.org_id and type = $3 and id = wanted.id and state = 'waiting' limit 1
    ) w`,
    [...listsOf(wanted, 'orgId', 'id'), type],
  )
  return new Set(rows.map(({ name }) => name))
}
