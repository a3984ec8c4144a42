import { numberList, textList, uuidList } from '#platform/postgres/lists.js'
import type { Connection } from '#platform/postgres/postgres.js'
import { changedBy, firstRow, rowsOf } from '#platform/postgres/rows.js'
import { noRoom, type Room, type StillWaiting } from '#schemas/decide.js'
import type { Problem } from '#schemas/problem.js'
import type { Reference } from '#schemas/record.js'
import { type Entity, entityLists } from '../entities.js'

// integrity.waiting as the decisions on a fetch read and change it, all in their transaction. What is sent on from there is in
// relay.ts, what people see of it in look-up.ts.
//
// The rows of a lane are changed by that lane's decisions; besides, they are cancelled, and the relay notes what it has done with
// them. Each of these locks rows in the order of their keys, or passes over rows that are locked: so none waits in a circle.

/** Where a waiting record was first submitted: the key of its row. */
export type WaitPlace = { batchId: string; place: number }

/** A record that began to wait; `state` says otherwise where a newer one of its id followed in the same fetch. */
export type BegunWait = WaitPlace & {
  orgId: string
  type: string
  id: string
  requestId: string
  requestIndex: number
  version: number
  topic: string
  partition: number
  keyedSha256: Buffer | null
  missing: Reference[]
  since: number
  until: number
  /** How many bytes it takes while it waits. */
  size: number
  /** It may have ended within the fetch that it began in: replaced by a newer record, or, where what was forgotten is decided again, decided. */
  state: 'waiting' | EndedWait['state']
  problems?: Problem[] | null
  acceptedVersion?: number | null
}

/** A record that waits no more. */
export type EndedWait = WaitPlace & {
  type: string
  state: 'accepted' | 'refused' | 'superseded'
  problems: Problem[] | null
  acceptedVersion: number | null
}

/** A record that was decided anew, and goes on waiting. */
export type ProlongedWait = WaitPlace & { missing: Reference[] }

/** What decisions change among the records that wait. */
export type WaitChanges = { begun: BegunWait[]; ended: EndedWait[]; prolonged: ProlongedWait[] }

/** Which records of a type wait, as far as a fetch has to know: `these` are their ids, and there may be others where `isAll` is false. */
export type WhoWaits = { these: ReadonlySet<string>; isAll: boolean; forThese: boolean }

/** Which records of this type wait, up to `most`, and whether any wait for such records: few wait, so reading them is cheap. */
export const findWhoWaits = async (
  connection: Connection,
  type: string,
  orgIds: readonly string[],
  most: number,
): Promise<WhoWaits> => {
  const { rows } = await connection.query<{ ids: string | null; forThese: boolean }>({
    name: 'find-who-waits',
    text: `
      select
        (
          select string_agg(w.id::text, ',')
          from (
            select id from integrity.waiting where org_id = any ($1::text[]) and type = $2 and state = 'waiting' limit $3
          ) w
        ) as ids,
        exists (select from integrity.waiting_for where org_id = any ($1::text[]) and type = $2) as "forThese"`,
    values: [orgIds, type, most],
  })
  const [row] = rows
  const ids = row?.ids?.split(',') ?? []
  return { these: new Set(ids), isAll: ids.length < most, forThese: row?.forThese ?? false }
}

/** How many records of an organisation wait, and how many bytes they take: added up by one index, which reads no row. */
export const countTaken = async (connection: Connection, orgId: string): Promise<Room> =>
  (await firstRow<Room>(connection, {
    name: 'count-taken',
    text: `
      select count(*) as records, coalesce(sum(size), 0)::bigint as bytes
      from integrity.waiting
      where state = 'waiting' and org_id = $1`,
    values: [orgId],
  })) ?? noRoom

/** A record that waits, held until the transaction ends. */
export type HeldWait = StillWaiting & { orgId: string; id: string }

/** The records of these ids that wait, held until the transaction ends: none of them can be cancelled meanwhile. */
export const holdWaits = async (
  connection: Connection,
  type: string,
  { orgIds, ids }: { orgIds: readonly string[]; ids: readonly string[] },
): Promise<HeldWait[]> => {
  if (ids.length === 0) return []
  return rowsOf<HeldWait>(connection, {
    name: 'hold-waits',
    // `limit 1` keeps Postgres from comparing all that wait with all that is wanted, where it expects few to wait.
    text: `
      with found as materialized (
        select distinct w.batch_id, w.place
        from unnest($1::text[], $2::uuid[]) as wanted (org_id, id)
        cross join lateral (
          select batch_id, place
          from integrity.waiting
          where org_id = wanted.org_id and type = $3 and id = wanted.id and state = 'waiting'
          limit 1
        ) w
      )
      select w.org_id as "orgId", w.id, w.batch_id as "batchId", w.place, w.version, w.keyed_sha256 as "keyedSha256",
        w.missing, ${millisecondsOf('w.until')} as until, octet_length(w.message) as size
      from (select * from found order by batch_id, place) found
      cross join lateral (
        select * from integrity.waiting where batch_id = found.batch_id and place = found.place limit 1 for update
      ) w
      where w.state = 'waiting'`,
    values: [textList(orgIds), uuidList(ids), type],
  })
}

/** Stores what decisions change among the records that wait, all of which are held. `messageOf` gives a record as it is kept, to be sent to its lane again. */
export const storeWaits = async (
  connection: Connection,
  { begun, ended, prolonged }: WaitChanges,
  messageOf: (begun: BegunWait) => Buffer,
  now: number,
): Promise<void> => {
  // In this order: one that goes on may be replaced by a newer one in the same fetch, and of one id only one may wait at a time.
  await prolongWaits(connection, prolonged, now)
  await endWaits(connection, ended, now)
  await insertWaits(connection, begun, messageOf, now)
}

/** The keys of rows as two lists. */
export const keysOf = (places: readonly WaitPlace[]) => [
  uuidList(places.map(({ batchId }) => batchId)),
  numberList(places.map(({ place }) => place)),
]

/** A column's moment as a number: of thousands of rows, to read the text of a moment takes this process longer than all the rest. */
export const millisecondsOf = (column: string): string => `round(date_part('epoch', ${column}) * 1000)::bigint`

const prolongWaits = async (
  connection: Connection,
  prolonged: readonly ProlongedWait[],
  now: number,
): Promise<void> => {
  if (prolonged.length === 0) return
  await connection.query({
    name: 'prolong-waits',
    text: `
      update integrity.waiting w
      set missing = p.missing, due_at = null, sent_at = null, is_checked = false, check_after = pg_current_xact_id(),
        changed_at = $4, change = nextval('integrity.waiting_changes'), is_told = false
      from unnest($1::uuid[], $2::integer[], $3::json[]) as p (batch_id, place, missing)
      where w.batch_id = p.batch_id and w.place = p.place`,
    values: [...keysOf(prolonged), prolonged.map(({ missing }) => JSON.stringify(missing)), new Date(now)],
  })
  await forgetMissing(connection, prolonged)
  await insertMissing(connection, prolonged)
}

const endWaits = async (connection: Connection, ended: readonly EndedWait[], now: number): Promise<void> => {
  if (ended.length === 0) return
  await connection.query({
    name: 'end-waits',
    text: `
      with e as materialized (
        select * from unnest($1::uuid[], $2::integer[], $3::text[], $4::json[], $5::bigint[])
          as e (batch_id, place, state, problems, accepted_version)
      ),
      forgotten as (
        delete from integrity.waiting_for f
        using e
        where f.batch_id = e.batch_id and f.place = e.place
      )
      update integrity.waiting w
      set state = e.state, problems = e.problems, accepted_version = e.accepted_version, message = null, due_at = null,
        changed_at = $6, change = nextval('integrity.waiting_changes'), is_told = false
      from e
      where w.batch_id = e.batch_id and w.place = e.place`,
    values: [
      ...keysOf(ended),
      textList(ended.map(({ state }) => state)),
      ended.map(({ problems }) => problems && JSON.stringify(problems)),
      ended.map(({ acceptedVersion }) => acceptedVersion),
      new Date(now),
    ],
  })
  await refuseKeyed(connection, ended)
}

/** Until it is refused, one that waits counts as accepted, so that a look-up by its key finds it. */
const refuseKeyed = async (
  connection: Connection,
  waits: readonly (WaitPlace & Pick<BegunWait, 'state'>)[],
): Promise<void> => {
  const refused = waits.filter(({ state }) => state === 'refused')
  if (refused.length === 0) return
  await connection.query({
    name: 'refuse-keyed-requests',
    text: `
      update integrity.keyed_requests k
      set is_accepted = false
      from unnest($1::uuid[], $2::integer[]) as e (batch_id, place)
      join integrity.waiting w using (batch_id, place)
      where w.keyed_sha256 is not null
        and k.request_id = w.request_id and k.batch_id = w.batch_id and k.place = w.place`,
    values: keysOf(refused),
  })
}

// A batch id derived from an Idempotency-Key may come again once its verdict is pruned: the older row then gives way.
const insertWaits = async (
  connection: Connection,
  begun: readonly BegunWait[],
  messageOf: (begun: BegunWait) => Buffer,
  now: number,
): Promise<void> => {
  if (begun.length === 0) return
  // As one JSON text: to write sixteen arrays of texts takes this process three times as long.
  const rows = begun.map((one) => ({
    ...one,
    message: one.state === 'waiting' ? messageOf(one).toString('base64') : null,
    keyedSha256: one.keyedSha256?.toString('base64') ?? null,
  }))
  await connection.query({
    name: 'insert-waits',
    text: `
      with begun as materialized (
        select * from json_to_recordset($1) as w ("batchId" uuid, place integer, "orgId" text, type text, id uuid,
          "requestId" uuid, "requestIndex" integer, version bigint, topic text, partition integer, message text,
          "keyedSha256" text, missing json, since bigint, until bigint, size integer, state text, problems json,
          "acceptedVersion" bigint)
      ),
      waited_for as (
        insert into integrity.waiting_for (org_id, type, id, batch_id, place)
        select distinct begun."orgId", m.type, m.id, begun."batchId", begun.place
        from begun
        cross join lateral json_to_recordset(begun.missing) as m (type text, id uuid)
        where begun.state = 'waiting'
      )
      insert into integrity.waiting as older (batch_id, place, org_id, type, id, request_id, request_index, version, topic,
        partition, message, keyed_sha256, missing, since, until, size, state, problems, accepted_version, check_after,
        changed_at)
      select "batchId", place, "orgId", type, id, "requestId", "requestIndex", version, topic, partition,
        decode(message, 'base64'), decode("keyedSha256", 'base64'), missing,
        to_timestamp(since / 1000.0), to_timestamp(until / 1000.0), size, state, problems, "acceptedVersion", pg_current_xact_id(), $2
      from begun
      on conflict (batch_id, place) do update set
        org_id = excluded.org_id, type = excluded.type, id = excluded.id, request_id = excluded.request_id,
        request_index = excluded.request_index, version = excluded.version, topic = excluded.topic,
        partition = excluded.partition, message = excluded.message, keyed_sha256 = excluded.keyed_sha256,
        missing = excluded.missing, since = excluded.since, until = excluded.until, size = excluded.size,
        state = excluded.state,
        changed_at = excluded.changed_at, problems = excluded.problems, accepted_version = excluded.accepted_version,
        due_at = null, sent_at = null,
        is_checked = false, check_after = excluded.check_after, change = excluded.change, is_told = false
      where older.state <> 'waiting'`,
    values: [JSON.stringify(rows), new Date(now)],
  })
  await refuseKeyed(connection, begun)
}

const insertMissing = async (
  connection: Connection,
  waits: readonly (WaitPlace & { missing: readonly Reference[] })[],
): Promise<void> => {
  const rows = waits.flatMap(({ batchId, place, missing }) =>
    missing.map(({ type, id }) => ({ batchId, place, type, id })),
  )
  if (rows.length === 0) return
  await connection.query({
    name: 'insert-missing',
    // A record may refer to another one by two of its fields.
    text: `
      insert into integrity.waiting_for (org_id, type, id, batch_id, place)
      select distinct w.org_id, m.type, m.id, m.batch_id, m.place
      from unnest($1::uuid[], $2::integer[], $3::text[], $4::uuid[]) as m (batch_id, place, type, id)
      join integrity.waiting w using (batch_id, place)`,
    values: [...keysOf(rows), textList(rows.map(({ type }) => type)), uuidList(rows.map(({ id }) => id))],
  })
}

const forgetMissing = async (connection: Connection, places: readonly WaitPlace[]): Promise<void> => {
  await connection.query({
    name: 'forget-missing',
    text: `
      delete from integrity.waiting_for f
      using unnest($1::uuid[], $2::integer[]) as e (batch_id, place)
      where f.batch_id = e.batch_id and f.place = e.place`,
    values: keysOf(places),
  })
}

/**
 * Notes those of these entities that records wait for: the relay has the records decided anew once this is committed. Not row by
 * row here: a million records may wait for one, and the decision on that one must not take longer for it. Resolves to how many
 * were noted.
 */
export const noteArrived = async (
  connection: Connection,
  entities: readonly Entity[],
  now: number,
): Promise<number> => {
  if (entities.length === 0) return 0
  return changedBy(connection, {
    name: 'note-arrived',
    text: `
      insert into integrity.waiting_arrived (org_id, type, id, arrived_at)
      select distinct org_id, type, id, $4::timestamptz
      from unnest($1::text[], $2::text[], $3::uuid[]) as given (org_id, type, id)
      where exists (
        select from integrity.waiting_for f
        where f.org_id = given.org_id and f.type = given.type and f.id = given.id
      )
      on conflict do nothing`,
    values: [...entityLists(entities), new Date(now)],
  })
}
