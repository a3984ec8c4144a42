import type { Pool } from '#platform/postgres/postgres.js'
import { rowsOf } from '#platform/postgres/rows.js'
import { entityLists } from '../entities.js'
import type { WaitPlace } from './waits.js'

// Which waiting records are to be decided anew, organisation by organisation. What is done with them then is in relay.ts.

/**
 * A waiting record that is to be decided anew, in which lane, and how large it is. `change` is that of its row: another one once the
 * record was decided anew. `isNoted`: it is noted when it was sent to its lane. `isWatched`: it need not be, because checkWaits
 * has yet to look at it, and finds it should its lane not have come to it.
 */
export type DueWait = WaitPlace & {
  orgId: string
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

// By turns: of each organisation that has something, the oldest few. A step of the index leads from one organisation to the next,
// however many rows lie between them. So that none is left out for good where very many have something, the next look goes on
// behind the last one of this look (`goOnAfter`; undefined where that was the end).
const mostTurns = 500
const fewOfTurn = 4
const fewOfEach = 10

/** At most about `most` records that have arrived, each with some of those that wait for it: `mostWaits` shared among them. */
export const findArrived = async (
  pool: Pool,
  most: number,
  mostWaits: number,
  after: string | undefined,
): Promise<{ arrived: Arrived[]; goOnAfter: string | undefined }> => {
  type Row = { orgId: string; type: string; id: string } & (
    | DueWait
    | { [name in Exclude<keyof DueWait, 'orgId'>]: null }
  )
  const { rows } = await pool.query<Row>({
    name: 'find-arrived',
    text: `
      with recursive turns (org_id) as (
        (select org_id from integrity.waiting_arrived where org_id > $3 order by org_id limit 1)
        union all
        select next.org_id
        from turns
        cross join lateral (
          select org_id from integrity.waiting_arrived where org_id > turns.org_id order by org_id limit 1
        ) next
      ),
      turn as materialized (select org_id from turns limit ${mostTurns}),
      a as materialized (
        select of_one.*
        from turn
        cross join lateral (
          select *
          from integrity.waiting_arrived
          where org_id = turn.org_id
          order by arrived_at
          limit (select greatest(${fewOfTurn}, $1::integer / greatest(1, count(*))) from turn)
        ) of_one
      )
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
      order by a.org_id, a.arrived_at, a.type, a.id, f.batch_id, f.place`,
    values: [most, mostWaits, after ?? ''],
  })
  const found = new Map<string, Arrived & { looked: number }>()
  const names = new Set(rows.map(({ orgId, type, id }) => `${orgId}/${type}/${id}`))
  const ofEach = Math.max(fewOfEach, Math.floor(mostWaits / names.size))
  for (const row of rows) {
    const { orgId, type, id, ...wait } = row
    const name = `${orgId}/${type}/${id}`
    const arrived = found.get(name) ?? { orgId, type, id, waits: [], last: undefined, looked: 0 }
    found.set(name, arrived)
    if (wait.batchId === null) continue
    if (++arrived.looked === ofEach) arrived.last = { batchId: wait.batchId, place: wait.place }
    // Those that were sent a moment ago for another reason are decided with what is there now.
    if (wait.size !== null) arrived.waits.push({ orgId, ...wait })
  }
  const turns = new Set(rows.map(({ orgId }) => orgId)).size
  return { arrived: [...found.values()], goOnAfter: turns === mostTurns ? rows.at(-1)?.orgId : undefined }
}

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

/** An organisation and a minute in which some of its records are due. */
export type DueTurn = { minute: string; orgId: string }

/** Records whose time is over (`until`), or that are due (`due_at`): about `most` of them. */
export const findDue = async (
  pool: Pool,
  column: 'until' | 'due_at',
  now: number,
  most: number,
  after: DueTurn | undefined,
): Promise<{ due: DueWait[]; goOnAfter: DueTurn | undefined }> => {
  const isMeant = `state = 'waiting' and due_at is ${column === 'until' ? 'null' : 'not null'}`
  const minute = `date_trunc('minute', ${column} at time zone 'UTC')`
  const thisMinute = `date_trunc('minute', $1::timestamptz at time zone 'UTC')`
  const nextTurn = (before: string) => `
        select ${minute} as minute, org_id
        from integrity.waiting
        where ${isMeant} and (${minute}, org_id) > ${before} and ${minute} <= ${thisMinute}
        order by ${minute}, org_id
        limit 1`
  type Row = DueTurn & (DueWait | { [name in Exclude<keyof DueWait, 'orgId'>]: null })
  const rows = await rowsOf<Row>(pool, {
    name: `find-due-by-${column}`,
    text: `
      with recursive turns (minute, org_id) as (
        (${nextTurn('($3::timestamp, $4::text)')})
        union all
        select next.* from turns cross join lateral (${nextTurn('(turns.minute, turns.org_id)')}) next
      ),
      turn as materialized (select * from turns limit ${mostTurns})
      select turn.minute::text as minute, turn.org_id as "orgId", w.*
      from turn
      left join lateral (
        select batch_id as "batchId", place, topic, partition, octet_length(message) as size, change,
          sent_at is not null as "isNoted", false as "isWatched"
        from integrity.waiting
        where ${isMeant} and ${minute} = turn.minute and org_id = turn.org_id and ${column} <= $1
        order by ${column}
        limit (select greatest(${fewOfTurn}, $2::integer / greatest(1, count(*))) from turn)
      ) w on true
      order by turn.minute, turn.org_id`,
    values: [new Date(now), most, after?.minute ?? '-infinity', after?.orgId ?? ''],
  })
  const turns = new Set(rows.map(({ minute, orgId }) => `${minute}/${orgId}`)).size
  return {
    due: rows.flatMap(({ minute, ...wait }) => (wait.batchId === null ? [] : [wait])),
    goOnAfter: turns === mostTurns ? rows.at(-1) : undefined,
  }
}
