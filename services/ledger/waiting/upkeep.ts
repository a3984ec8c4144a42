import type { Connection, Pool } from '#platform/postgres/postgres.js'
import { changedBy, countOf, firstRow, rowsOf } from '#platform/postgres/rows.js'
import { catalogue } from '#schemas/catalogue.js'
import { mostRecordsInBatch } from '#schemas/version.js'
import type { WaitPlace } from './waits.js'

// integrity.waiting as it is looked after: what is forgotten, what is looked at anew, and what was released lately.

/**
 * A condition on a verdict `v`: nothing of its batch waits, or has waited until a moment. A look-up follows a record that waits by
 * the verdict of its batch, and goes on showing what became of it for as long as verdicts are kept. `offset 0` has Postgres look up
 * each batch by the primary key: it could otherwise choose to read the whole table, with a partition's cursor held.
 */
export const noneWaitedSince = (moment: string): string => `not exists (
            select from integrity.waiting w
            where w.batch_id = v.batch_id and (w.state = 'waiting' or w.changed_at >= ${moment})
            offset 0
          )`

/** The moments before which waiting must have ended for its rows to go: of uploads, and of interactions, which go sooner. */
export type EndedBefore = { uploads: Date; interactions: Date }

const cutoff = `case ended.type when '${catalogue.interaction.type}' then $2::timestamptz else $1::timestamptz end`
// The later of the two besides, because an index leads to that.
const endedInTime = `ended.state <> 'waiting' and ended.is_told
        and ended.changed_at < greatest($1::timestamptz, $2::timestamptz) and ended.changed_at < ${cutoff}`

/** Removes at most `most` ended waits, the oldest first. What is not published yet, or a verdict still names, stays. */
export const pruneWaits = (pool: Pool, { uploads, interactions }: EndedBefore, most: number): Promise<number> =>
  changedBy(
    pool,
    `delete from integrity.waiting
    where (batch_id, place) in (
      select ended.batch_id, ended.place
      from integrity.waiting ended
      where ${endedInTime}
        and not exists (select from integrity.verdicts v where v.batch_id = ended.batch_id offset 0)
      order by ended.changed_at
      limit $3
    )`,
    [uploads, interactions, most],
  )

/** How many would go, together with the verdicts that name them. */
export const countPrunableWaits = (pool: Pool, { uploads, interactions }: EndedBefore): Promise<number> =>
  countOf(
    pool,
    `select count(*) as count
    from integrity.waiting ended
    left join integrity.verdicts v using (batch_id)
    where ${endedInTime}
      and (v.batch_id is null or (coalesce(v.repeated_at, v.decided_at) < ${cutoff} and ${noneWaitedSince(cutoff)}))`,
    [uploads, interactions],
  )

/** Has at most `most` waiting records after `after` looked at once more; resolves to the last of them, if there were any. */
export const uncheckWaits = (
  connection: Connection,
  after: WaitPlace | undefined,
  most: number,
): Promise<WaitPlace | undefined> =>
  firstRow(
    connection,
    `with chosen as (
      select batch_id, place
      from integrity.waiting
      where state = 'waiting' and is_checked and ($1::uuid is null or (batch_id, place) > ($1, $2::integer))
      order by batch_id, place
      limit $3
      for update
    ),
    unchecked as (
      update integrity.waiting w
      set is_checked = false, check_after = null
      from chosen
      where w.batch_id = chosen.batch_id and w.place = chosen.place
      returning w.batch_id, w.place
    )
    select batch_id as "batchId", place from unchecked order by batch_id desc, place desc limit 1`,
    [after?.batchId ?? null, after?.place ?? null, most],
  )

const below = `w.topic = c.topic and w.partition = c.partition and w.state = 'waiting'
        and w.version < c.overtaken_until * ${mostRecordsInBatch}`

/**
 * Makes at most `most` records due that wait since before a version decided in their lane that knew nothing of waiting: the lane refuses
 * them. Where none is left, that version is forgotten. Resolves to how many became due.
 */
export const makeOvertakenDue = async (pool: Pool, now: number, most: number): Promise<number> => {
  const due = await changedBy(pool, {
    name: 'make-overtaken-due',
    text: `
      with chosen as (
        select w.batch_id, w.place
        from (select * from integrity.cursors where overtaken_until > 0) c
        join integrity.waiting w on ${below} and w.due_at is null
        order by w.batch_id, w.place
        limit $2
        for update of w skip locked
      )
      update integrity.waiting w
      set due_at = $1
      from chosen
      where w.batch_id = chosen.batch_id and w.place = chosen.place`,
    values: [new Date(now), most],
  })
  if (due > 0) return due
  // Nothing that begins to wait from now on lies below: it is after all that was decided. Where the older version decides at this
  // moment, what is seen here of the records that wait is too old.
  await pool.query({
    name: 'forget-overtaken',
    text: `
      with seen as materialized (select * from integrity.cursors where overtaken_until > 0)
      update integrity.cursors c
      set overtaken_until = 0
      from seen
      where c.topic = seen.topic and c.partition = seen.partition and c.overtaken_until = seen.overtaken_until
        and not exists (select from integrity.waiting w where ${below})`,
  })
  return 0
}

/** How many records of each batch waited and were accepted since then, of one organisation and type; the newest first. */
export const countReleased = (
  pool: Pool,
  { org, type, since }: { org: string; type: string; since: Date },
  most: number,
): Promise<{ batchId: string; accepted: number }[]> =>
  rowsOf(
    pool,
    `select batch_id as "batchId", count(*) as accepted
    from integrity.waiting
    where state = 'accepted' and changed_at >= $3 and org_id = $1 and type = $2
    group by batch_id
    order by max(changed_at) desc
    limit $4`,
    [org, type, since, most],
  )
