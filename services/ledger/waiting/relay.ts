import { numberList } from '#platform/postgres/lists.js'
import type { Pool } from '#platform/postgres/postgres.js'
import { firstRow, rowsOf } from '#platform/postgres/rows.js'
import type { WaitingEvent } from '#schemas/events.js'
import { entityLists } from '../entities.js'
import { keysOf, millisecondsOf, type WaitPlace } from './waits.js'

// What integrity's relay reads of integrity.waiting and notes in it. One relay works at a time. It changes nothing of what was
// decided: a record that is sent to its lane once too often is passed over there.
//
// Rows are looked up by `lateral (… limit 1)`: it keeps Postgres from reading all that wait where it expects few of them.

/**
 * A waiting record that is to be decided anew, in which lane, and how large it is. `change` is that of its row: another one once the
 * record was decided anew. `isNoted`: it is noted when it was sent to its lane. `isWatched`: it need not be, because checkWaits
 * has yet to look at it, and finds it should its lane not have come to it.
 */
export type DueWait = WaitPlace & {
  topic: string
  partition: number
  size: number
  change: number
  isNoted: boolean
  isWatched: boolean
}

/** A record that was waited for and is there: the next of those that wait for it, and how far that goes. */
export type Arrived = {
  orgId: string
  type: string
  id: string
  waits: DueWait[]
  /** Where to go on after these; undefined where no others are left. */
  last: WaitPlace | undefined
}

/** At most `most` records that have arrived, each with some of those that wait for it: `mostWaits` shared among them. */
export const findArrived = async (pool: Pool, most: number, mostWaits: number): Promise<Arrived[]> => {
  type Row = { orgId: string; type: string; id: string } & (DueWait | { [name in keyof DueWait]: null })
  const { rows } = await pool.query<Row>({
    name: 'find-arrived',
    text: `
      with a as materialized (select * from integrity.waiting_arrived order by arrived_at limit $1)
      select a.org_id as "orgId", a.type, a.id, f.batch_id as "batchId", f.place, w.topic, w.partition, w.size, w.change,
        false as "isNoted", not w.is_checked as "isWatched"
      from a
      left join lateral (
        select f.batch_id, f.place
        from integrity.waiting_for f
        where f.org_id = a.org_id and f.type = a.type and f.id = a.id
          and (f.batch_id, f.place) >
            (coalesce(a.done_batch_id, '00000000-0000-0000-0000-000000000000'), coalesce(a.done_place, -1))
        order by f.batch_id, f.place
        limit (select greatest(${fewOfEach}, $2::integer / greatest(1, count(*))) from a)
      ) f on true
      left join lateral (
        select topic, partition, state, due_at, octet_length(message) as size, change, is_checked
        from integrity.waiting
        where batch_id = f.batch_id and place = f.place
        limit 1
      ) w on w.state = 'waiting' and w.due_at is null
      order by a.arrived_at, a.org_id, a.type, a.id, f.batch_id, f.place`,
    values: [most, mostWaits],
  })
  const found = new Map<string, Arrived & { looked: number }>()
  const names = new Set(rows.map(({ orgId, type, id }) => `${orgId}/${type}/${id}`))
  const ofEach = Math.max(fewOfEach, Math.floor(mostWaits / names.size))
  for (const { orgId, type, id, ...wait } of rows) {
    const name = `${orgId}/${type}/${id}`
    const arrived = found.get(name) ?? { orgId, type, id, waits: [], last: undefined, looked: 0 }
    found.set(name, arrived)
    if (wait.batchId === null) continue
    if (++arrived.looked === ofEach) arrived.last = { batchId: wait.batchId, place: wait.place }
    // Those that were sent a moment ago for another reason are decided with what is there now.
    if (wait.size !== null) arrived.waits.push(wait)
  }
  return [...found.values()]
}

const fewOfEach = 10

/** Notes how far the records that wait for these were sent; where none is left, that they need not be looked at again. */
export const moveArrived = async (pool: Pool, arrived: readonly Arrived[]): Promise<void> => {
  const done = arrived.filter(({ last }) => !last)
  const under = arrived.filter(({ last }) => last)
  if (done.length > 0) {
    await pool.query({
      name: 'forget-arrived',
      text: `
        delete from integrity.waiting_arrived
        where (org_id, type, id) in (select * from unnest($1::text[], $2::text[], $3::uuid[]))`,
      values: entityLists(done),
    })
  }
  if (under.length > 0) {
    await pool.query({
      name: 'move-arrived',
      text: `
        update integrity.waiting_arrived a
        set done_batch_id = m.batch_id, done_place = m.place
        from unnest($1::text[], $2::text[], $3::uuid[], $4::uuid[], $5::integer[]) as m (org_id, type, id, batch_id, place)
        where a.org_id = m.org_id and a.type = m.type and a.id = m.id`,
      values: [...entityLists(under), under.map(({ last }) => last?.batchId), under.map(({ last }) => last?.place)],
    })
  }
}

/** Records whose time is over, and those that are due; each at most `most`. */
export const findDue = (pool: Pool, now: number, most: number): Promise<DueWait[]> =>
  rowsOf(pool, {
    name: 'find-due',
    text: `
      (
        select batch_id as "batchId", place, topic, partition, octet_length(message) as size, change,
          sent_at is not null as "isNoted", false as "isWatched"
        from integrity.waiting
        where state = 'waiting' and due_at is null and until <= $1
        order by until
        limit $2
      )
      union all
      (
        select batch_id, place, topic, partition, octet_length(message), change, sent_at is not null, false
        from integrity.waiting
        where state = 'waiting' and due_at <= $1
        order by due_at
        limit $2
      )`,
    values: [new Date(now), most],
  })

/** A waiting record as its lane gets it. */
export type SentWait = WaitPlace & {
  orgId: string
  type: string
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
      select batch_id as "batchId", place, org_id as "orgId", type, request_id as "requestId",
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
        set is_checked = true, due_at = case when looked.is_there then $3::timestamptz end
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
