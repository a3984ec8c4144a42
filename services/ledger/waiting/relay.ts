import { numberList } from '#platform/postgres/lists.js'
import type { Pool } from '#platform/postgres/postgres.js'
import { firstRow, rowsOf } from '#platform/postgres/rows.js'
import type { WaitingEvent } from '#schemas/events.js'
import type { DueWait } from './turns.js'
import { keysOf, millisecondsOf, type WaitPlace } from './waits.js'

// What integrity's relay reads of integrity.waiting and notes in it. One relay works at a time. It changes nothing of what was
// decided: a record that is sent to its lane once too often is passed over there.
//
// Rows are looked up by `lateral (… limit 1)`: it keeps Postgres from reading all that wait where it expects few of them.

/** A waiting record as its lane gets it. */
export type SentWait = WaitPlace & {
  orgId: string
  type: string
  id: string
  requestId: string
  requestIndex: number
  version: number
  topic: string
  partition: number
  message: Buffer
  since: number
  until: number
}

/** Those of these records that still wait. */
export const findWaitsToSend = async (pool: Pool, places: readonly WaitPlace[]): Promise<SentWait[]> => {
  if (places.length === 0) return []
  return rowsOf<SentWait>(pool, {
    name: 'find-waits-to-send',
    text: `
      select batch_id as "batchId", place, org_id as "orgId", type, id, request_id as "requestId",
        request_index as "requestIndex", version, topic, partition, message, ${millisecondsOf('since')} as since,
        ${millisecondsOf('until')} as until
      from unnest($1::uuid[], $2::integer[]) as sent (a, b)
      cross join lateral (select * from integrity.waiting where batch_id = sent.a and place = sent.b limit 1) w
      where state = 'waiting'
      order by topic, partition, org_id, version`,
    values: keysOf(places),
  })
}

/**
 * Notes that these were sent to their lanes. They are sent once more where a lane has not come to them in time: after 30 s, and then
 * after twice as long each time, so that a lane that has much to do is not given ever more. One that its lane decides at this
 * moment, or has decided, is left as it is.
 */
export const markSent = async (pool: Pool, sent: readonly DueWait[], now: number): Promise<void> => {
  if (sent.length === 0) return
  await pool.query({
    name: 'mark-waits-sent',
    text: `
      with sent as materialized (
        select w.batch_id, w.place
        from (
          select * from unnest($1::uuid[], $2::integer[], $3::bigint[]) as given (batch_id, place, change) order by 1, 2
        ) given
        cross join lateral (
          select batch_id, place, state, change
          from integrity.waiting
          where batch_id = given.batch_id and place = given.place
          limit 1
          for update skip locked
        ) w
        where w.state = 'waiting' and w.change = given.change
      )
      update integrity.waiting w
      set sent_at = $4::timestamptz,
        due_at = $4::timestamptz + least(
          interval '1 hour',
          greatest(interval '30 seconds', 2 * ($4::timestamptz - coalesce(w.sent_at, $4::timestamptz)))
        )
      from sent
      where w.batch_id = sent.batch_id and w.place = sent.place`,
    values: [...keysOf(sent), numberList(sent.map(({ change }) => change)), new Date(now)],
  })
}

/**
 * A moment that has come: what was committed before it, and a transaction that is newer than all that were under way then. (Its
 * snapshot's own bound would not do: a transaction under way may lie beyond it while nothing newer has ended.)
 */
export type LookMoment = { snapshot: string; transaction: string }

/** This moment, where there are records that have to be looked at, and wait since `before`. */
export const findMoment = (pool: Pool, before: number): Promise<LookMoment | undefined> =>
  firstRow(pool, {
    name: 'find-moment',
    text: `
      select pg_current_snapshot()::text as snapshot, pg_current_xact_id()::text as transaction
      where exists (
        select from integrity.waiting where state = 'waiting' and not is_checked and due_at is null and since <= $1
      )`,
    values: [new Date(before)],
  })

/**
 * Looks whether what records wait for is there, of those that wait since `before` and were written before a moment; does nothing while a transaction from
 * before that moment is under way. A decision that added what a record waits for, and did not see the record, was under way
 * beside the decision to let it wait: by now it has ended, and what it added is seen. A decision that adds something from now on sees the
 * record. Resolves to how many were looked at, undefined where it is too early.
 */
export const checkWaits = async (
  pool: Pool,
  { snapshot, transaction }: LookMoment,
  { now, before, most }: { now: number; before: number; most: number },
): Promise<number | undefined> => {
  const { rows } = await pool.query<{ isEarly: boolean; count: number }>({
    name: 'check-waits',
    text: `
      with looked as (
        select w.batch_id, w.place, exists (
          select
          from integrity.waiting_for f
          join integrity.entities e using (org_id, type, id)
          where f.batch_id = w.batch_id and f.place = w.place
        ) as is_there
        from integrity.waiting w
        where w.state = 'waiting' and not w.is_checked and w.due_at is null and w.since <= $5
          and pg_snapshot_xmin(pg_current_snapshot()) >= $2::xid8
          and (w.check_after is null or pg_visible_in_snapshot(w.check_after, $1::pg_snapshot))
        order by w.since
        limit $4
        for update skip locked
      ),
      checked as (
        update integrity.waiting w
        set is_checked = true, size = octet_length(w.message), due_at = case when looked.is_there then $3::timestamptz end
        from looked
        where w.batch_id = looked.batch_id and w.place = looked.place
        returning 1
      )
      select pg_snapshot_xmin(pg_current_snapshot()) < $2::xid8 as "isEarly", (select count(*) from checked) as count`,
    values: [snapshot, transaction, new Date(now), most, new Date(before)],
  })
  const [row] = rows
  return !row || row.isEarly ? undefined : row.count
}

/** What became of a waiting record, as an event, and the key of its row. */
export type UnpublishedWait = WaitPlace & { event: WaitingEvent }

/** At most `most` changes from before a moment that were not published yet, the oldest first. */
export const findUnpublished = async (pool: Pool, before: number, most: number): Promise<UnpublishedWait[]> => {
  const { rows } = await pool.query<WaitingEvent & { place: number }>({
    name: 'find-unpublished-waits',
    text: `
      select org_id, request_id, batch_id, change as version, type, request_index as index, id, state, missing,
        ${millisecondsOf('since')} as since, ${millisecondsOf('until')} as until,
        ${millisecondsOf('changed_at')} as changed_at, place
      from integrity.waiting
      where not is_told and changed_at <= $1
      order by change
      limit $2`,
    values: [new Date(before), most],
  })
  return rows.map((row) => ({ batchId: row.batch_id, place: row.place, event: row }))
}

/** Notes that these were published, where nothing has changed since. */
export const markPublished = async (pool: Pool, published: readonly UnpublishedWait[]): Promise<void> => {
  if (published.length === 0) return
  await pool.query({
    name: 'mark-waits-published',
    text: `
      with published as (
        select w.batch_id, w.place
        from unnest($1::uuid[], $2::integer[], $3::bigint[]) as given (batch_id, place, change)
        join integrity.waiting w using (batch_id, place, change)
        order by w.batch_id, w.place
        for update of w skip locked
      )
      update integrity.waiting w
      set is_told = true
      from published
      where w.batch_id = published.batch_id and w.place = published.place`,
    values: [...keysOf(published), numberList(published.map(({ event }) => event.version))],
  })
}
