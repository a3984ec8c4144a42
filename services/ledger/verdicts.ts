import type { Committed } from '#platform/kafka/committed-offsets.js'
import { numberList } from '#platform/postgres/lists.js'
import type { Connection, Pool } from '#platform/postgres/postgres.js'
import { countOf, rowsOf } from '#platform/postgres/rows.js'
import { catalogue } from '#schemas/catalogue.js'
import type { PlacedVerdict } from '#schemas/derive/decided-events.js'
import { submittedTopic } from '#schemas/derive/names.js'
import type { VerdictEvent, Waiting } from '#schemas/events.js'
import { noneWaitedSince } from './waiting/upkeep.js'

// integrity.verdicts: the decision on each batch. It is written once and never changed; pruning removes old ones.

/** A verdict as it is kept, with the place of the message that was decided, and the API key (read by `findSources` alone). */
export type StoredVerdict = PlacedVerdict & { topic: string; partition: number; key_id?: string }

type InLog = { topic: string; partition: number; offset: number }

/** Whether this message of a batch is the one that was decided: only that one leads to events, others repeat the verdict. */
export const isTheOneDecided = (verdict: StoredVerdict, { topic, partition, offset }: InLog): boolean =>
  verdict.topic === topic && verdict.partition === partition && verdict.submitted_offset === offset

/** The verdicts on these batches, by batch id. */
export const findVerdicts = async (
  connection: Connection | Pool,
  batchIds: readonly string[],
): Promise<Map<string, StoredVerdict>> => {
  if (batchIds.length === 0) return new Map()
  const { rows } = await connection.query<Row<StoredVerdict>>({
    name: 'find-verdicts',
    text: `
      select ${verdictColumns}, repeated, gone, topic, partition, submitted_offset
      from integrity.verdicts
      where batch_id = any ($1::uuid[])`,
    values: [batchIds],
  })
  return new Map(rows.map((row) => [row.batch_id, fromRow(row)]))
}

/** The batch decided at an offset; undefined where it is not among the last used: no index leads to an offset. */
export const findBatchDecidedAt = async (
  connection: Connection,
  { topic, partition, offset }: InLog,
): Promise<string | undefined> => {
  const { rows } = await connection.query<{ batch_id: string }>({
    name: 'find-batch-decided-at',
    text: `
      select batch_id
      from (
        select batch_id, submitted_offset
        from integrity.verdicts
        where topic = $1 and partition = $2
        order by coalesce(repeated_at, decided_at) desc
        limit 1000
      ) last_used
      where submitted_offset = $3`,
    values: [topic, partition, offset],
  })
  return rows[0]?.batch_id
}

/** A batch that was decided, with its offset and how many records it had. */
export type DecidedBatchAt = { offset: number; batch_id: string; request_id: string; org_id: string; records: number }

/** What was decided in a stretch of a partition. For operators: no index leads to an offset, so this reads long. */
export const findDecidedBetween = (
  pool: Pool,
  { topic, partition, from, until }: { topic: string; partition: number; from: number; until: number },
): Promise<DecidedBatchAt[]> =>
  rowsOf(
    pool,
    `select submitted_offset as "offset", batch_id, request_id, org_id,
      accepted + json_array_length(refused) + coalesce(json_array_length(waiting), 0) + cardinality(gone) as records
    from integrity.verdicts
    where topic = $1 and partition = $2 and submitted_offset >= $3 and submitted_offset < $4
    order by submitted_offset`,
    [topic, partition, from, until],
  )

/** The verdicts on these batches without their places in the log, as uploaders get them. */
export const findVerdictsOfBatches = async (pool: Pool, batchIds: readonly string[]): Promise<VerdictEvent[]> => {
  const { rows } = await pool.query<Row<VerdictEvent>>({
    name: 'find-verdicts-of-batches',
    text: `select ${verdictColumns} from integrity.verdicts where batch_id = any ($1::uuid[])`,
    values: [batchIds],
  })
  return rows.map(fromRow)
}

/** The body (its SHA-256) that each request was first decided with. With one lane the lowest offset is the first. */
export const findFirstBodies = async (
  connection: Connection,
  requestIds: readonly string[],
): Promise<Map<string, Buffer>> => {
  if (requestIds.length === 0) return new Map()
  const { rows } = await connection.query<{ request_id: string; body_sha256: Buffer }>({
    name: 'find-first-bodies',
    text: `
      select distinct on (request_id) request_id, body_sha256
      from integrity.verdicts
      where request_id = any ($1::uuid[])
      order by request_id, submitted_offset`,
    values: [requestIds],
  })
  return new Map(rows.map((row) => [row.request_id, row.body_sha256]))
}

/**
 * The same where batches of one request are decided in several partitions, maybe at this very moment: a request belongs to the body
 * that is here first. A second one waits at the primary key until the first one's transaction has ended. In the order of the ids, so
 * that two transactions never wait for each other.
 */
export const claimBodies = async (
  connection: Connection,
  bodies: ReadonlyMap<string, Buffer>,
): Promise<Map<string, Buffer>> => {
  if (bodies.size === 0) return new Map()
  await connection.query({
    name: 'claim-bodies',
    text: `
      insert into integrity.request_bodies (request_id, body_sha256)
      select claimed.request_id, coalesce(
        -- Decided while there was one lane, when nobody had to claim it.
        (
          select v.body_sha256
          from integrity.verdicts v
          where v.request_id = claimed.request_id
          order by v.submitted_offset
          limit 1
        ),
        claimed.body_sha256
      )
      from unnest($1::uuid[], $2::bytea[]) as claimed (request_id, body_sha256)
      order by claimed.request_id
      on conflict do nothing`,
    values: [[...bodies.keys()], [...bodies.values()]],
  })
  const { rows } = await connection.query<{ request_id: string; body_sha256: Buffer }>({
    name: 'find-claimed-bodies',
    text: `select request_id, body_sha256 from integrity.request_bodies where request_id = any ($1::uuid[])`,
    values: [[...bodies.keys()]],
  })
  return new Map(rows.map((row) => [row.request_id, row.body_sha256]))
}

/** Which of these requests have at least one batch that was decided. */
export const findDecidedRequests = async (pool: Pool, requestIds: readonly string[]): Promise<Set<string>> => {
  const { rows } = await pool.query<{ request_id: string }>(
    `select distinct request_id from integrity.verdicts where request_id = any ($1::uuid[])`,
    [requestIds],
  )
  return new Set(rows.map(({ request_id }) => request_id))
}

/** The newest decided batches with accepted records, without those that integrity wrote itself (request and batch are one). */
export const findAcceptedBatches = (
  pool: Pool,
  { org, type, since }: { org: string; type: string; since: Date },
  most: number,
): Promise<{ batchId: string; accepted: number }[]> =>
  rowsOf(
    pool,
    // Partition by partition, so that the index by partition and last use finds them.
    `select v.batch_id as "batchId", v.accepted
    from integrity.cursors c
    join integrity.verdicts v on v.topic = c.topic and v.partition = c.partition
    where (c.topic = $1 or c.topic like $1 || '.g%') and coalesce(v.repeated_at, v.decided_at) >= $3 and v.decided_at >= $3
      and v.org_id = $2 and v.accepted > 0 and v.request_id <> v.batch_id
    order by v.decided_at desc
    limit $4`,
    [submittedTopic(type), org, since, most],
  )

// Column by column: as one JSON document it would be read, and a refused record's \u0000 would stop the consumer.
export const insertVerdicts = async (connection: Connection, verdicts: readonly StoredVerdict[]): Promise<void> => {
  if (verdicts.length === 0) return
  const column = <T>(value: (verdict: StoredVerdict) => T): T[] => verdicts.map(value)
  await connection.query({
    name: 'insert-verdicts',
    text: `
      insert into integrity.verdicts (batch_id, org_id, request_id, type, batch, batches, first_index, body_sha256,
        accepted, refused, repeated, decided_at, topic, partition, submitted_offset, waiting, gone, key_id)
      select batch_id, org_id, request_id, type, batch, batches, first_index, body_sha256,
        accepted, refused, repeated::integer[], decided_at, topic, partition, submitted_offset, waiting, gone::integer[],
        key_id
      from unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::integer[], $6::integer[], $7::integer[],
        $8::bytea[], $9::integer[], $10::json[], $11::text[], $12::timestamptz[], $13::text[], $14::integer[],
        $15::bigint[], $16::json[], $17::text[], $18::text[])
        as v (batch_id, org_id, request_id, type, batch, batches, first_index, body_sha256,
          accepted, refused, repeated, decided_at, topic, partition, submitted_offset, waiting, gone, key_id)`,
    values: [
      column((v) => v.batch_id),
      column((v) => v.org_id),
      column((v) => v.request_id),
      column((v) => v.type),
      column((v) => v.batch),
      column((v) => v.batches),
      column((v) => v.first_index),
      column((v) => v.body_sha256),
      column((v) => v.accepted),
      column((v) => JSON.stringify(v.refused)),
      // An array of arrays must have rows of one length, so each row goes as its text.
      column((v) => numberList(v.repeated)),
      column((v) => new Date(v.decided_at)),
      column((v) => v.topic),
      column((v) => v.partition),
      column((v) => v.submitted_offset),
      column((v) => (v.waiting ? JSON.stringify(v.waiting) : null)),
      column((v) => numberList(v.gone ?? [])),
      column((v) => v.key_id ?? null),
    ],
  })
}

/** Notes that these batches came again: their verdicts are kept as if they had been decided now. */
export const touchVerdicts = async (
  connection: Connection,
  batchIds: readonly string[],
  now: number,
): Promise<void> => {
  if (batchIds.length === 0) return
  await connection.query({
    name: 'touch-verdicts',
    text: `update integrity.verdicts set repeated_at = $2 where batch_id = any ($1::uuid[])`,
    values: [batchIds, new Date(now)],
  })
}

/** How many verdicts were removed, and when the most recently used of them was last used. */
export type PrunedVerdicts = { count: number; lastUsed: Date | null }

/**
 * Removes at most `most` verdicts of a partition that were published and last used before a moment, the oldest first; those
 * with a record that waits, or has waited until then, stay, and with `keepKeyed` those on requests with an Idempotency-Key. An array of ids, not a join with them: Postgres would read the whole table for that, with the cursor held.
 */
export const pruneVerdicts = async (
  connection: Connection,
  { topic, partition, offset }: Committed,
  before: Date,
  most: number,
  keepKeyed = false,
): Promise<PrunedVerdicts> => {
  const { rows } = await connection.query<{ count: number; last_used: Date | null; requests: string[] | null }>({
    name: keepKeyed ? 'prune-unkeyed-verdicts' : 'prune-verdicts',
    text: `
      with gone as (
        delete from integrity.verdicts
        where batch_id = any (array(
          select batch_id
          from integrity.verdicts v
          where topic = $1 and partition = $2 and submitted_offset < $3 and coalesce(repeated_at, decided_at) < $4
          and ${noneWaitedSince('$4')} ${keepKeyed ? `and ${isUnkeyed}` : ''}
          order by coalesce(repeated_at, decided_at)
          limit $5
        ))
        returning request_id, coalesce(repeated_at, decided_at) as last_used
      )
      select count(*) as count, max(last_used) as last_used, array_agg(distinct request_id) as requests from gone`,
    values: [topic, partition, offset, before, most],
  })
  await forgetBodies(connection, rows[0]?.requests ?? [])
  return { count: rows[0]?.count ?? 0, lastUsed: rows[0]?.last_used ?? null }
}

/** Removes the bodies of those of these requests that have no verdict any more. */
const forgetBodies = async (connection: Connection, requestIds: readonly string[]): Promise<void> => {
  // Where organisations have one lane there are no bodies at all.
  const { rows } = await connection.query<{ request_id: string }>({
    name: 'find-bodies-of-pruned',
    text: 'select request_id from integrity.request_bodies where request_id = any ($1::uuid[])',
    values: [requestIds],
  })
  if (rows.length === 0) return
  await connection.query({
    name: 'forget-bodies',
    text: `
      delete from integrity.request_bodies
      where request_id = any ($1::uuid[]) and request_id <> all (array(
        select request_id from integrity.verdicts where request_id = any ($1::uuid[])
      ))`,
    values: [rows.map(({ request_id }) => request_id)],
  })
}

export const countPrunableVerdicts = (
  pool: Pool,
  committed: readonly Committed[],
  before: Date,
  keepKeyed = false,
): Promise<number> =>
  countOf(pool, {
    text: `
      select count(*) as count
      from unnest($1::text[], $2::integer[], $3::bigint[]) as published (topic, partition, next_offset)
      join integrity.verdicts v using (topic, partition)
      where v.submitted_offset < published.next_offset and coalesce(v.repeated_at, v.decided_at) < $4
        and ${noneWaitedSince('$4')} ${keepKeyed ? `and ${isUnkeyed}` : ''}`,
    values: [committed.map((c) => c.topic), committed.map((c) => c.partition), committed.map((c) => c.offset), before],
  })

// As in the index verdicts_unkeyed_last_used; ids that are derived from a key are of version 8.
const isUnkeyed = `v.type = '${catalogue.interaction.type}' and substr(v.request_id::text, 15, 1) <> '8'`

/** What a verdict event carries, in the names of the columns. */
export const verdictColumns = `batch_id, org_id, request_id, type, batch, batches, first_index, body_sha256,
        decided_at, accepted, refused, waiting`

/** A verdict as Postgres gives it out. */
export type VerdictRow<Verdict extends VerdictEvent = VerdictEvent> = Row<Verdict>
type Row<Verdict extends VerdictEvent> = Omit<Verdict, 'decided_at' | 'waiting'> & {
  decided_at: Date
  waiting: Waiting[] | null
  gone?: number[]
}

export const fromRow = <Verdict extends VerdictEvent>({ waiting, gone, ...row }: Row<Verdict>): Verdict =>
  ({
    ...row,
    decided_at: row.decided_at.getTime(),
    ...(waiting && { waiting }),
    ...(gone && gone.length > 0 && { gone }),
  }) as unknown as Verdict
