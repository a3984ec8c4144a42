import { numberList } from '#platform/postgres/lists.js'
import type { Pool } from '#platform/postgres/postgres.js'
import { changedBy, listsOf, rowsOf } from '#platform/postgres/rows.js'
import { type BatchParts, recordsIn, type VerdictEvent } from '#schemas/events.js'
import { batchIdOf } from '#schemas/uuid.js'
import { fromRow, type VerdictRow, verdictColumns } from './verdicts.js'

// edge.requests: notes of requests that took longer than a second, for look-ups before their verdicts are there.

/** What is kept of a request that is not answered quickly: enough to answer a look-up before anything is decided. */
export type NotedRequest = {
  requestId: string
  orgId: string
  type: string
  bodySha256: Buffer
  /** How many records each of its batches carries. */
  batchRecords: number[]
  /** How many lanes it was cut by. */
  lanes: number
  submittedAt: number
  /** How many batches, from the first on, Kafka is known to have; null while they are being published. */
  written: number | null
}

export const toNoted = (
  { requestId, orgId, type, bodySha256, lanes, submittedAt }: Omit<NotedRequest, 'batchRecords' | 'written'>,
  batches: readonly BatchParts[],
): NotedRequest => {
  const batchRecords = batches.map(recordsIn)
  return { requestId, orgId, type, bodySha256, batchRecords, lanes, submittedAt, written: null }
}

export const batchIdsOf = ({
  requestId,
  batchRecords,
  lanes,
}: Pick<NotedRequest, 'requestId' | 'batchRecords' | 'lanes'>): string[] => {
  let before = 0
  return batchRecords.map((count) => {
    const id = batchIdOf(requestId, before, count, lanes)
    before += count
    return id
  })
}

/** What Postgres knows of a request: its verdicts, and the note of it if there is one. */
export type StoredRequest = { verdicts: VerdictEvent[]; noted: NotedRequest | undefined }

type NotedColumns = {
  noted_type: string
  noted_sha256: Buffer
  batch_records: number[]
  noted_lanes: number
  submitted_at: Date
  written: number | null
}
type Row = (VerdictRow | Record<keyof VerdictRow, null>) & (NotedColumns | Record<keyof NotedColumns, null>)

/** One organisation's own request. One statement, so that no pruning falls between the two tables. */
export const findRequest = async (pool: Pool, orgId: string, requestId: string): Promise<StoredRequest> => {
  const { rows } = await pool.query<Row>({
    name: 'find-request',
    text: `
      select v.*, r.type as noted_type, r.body_sha256 as noted_sha256, r.batch_records, r.lanes as noted_lanes,
        r.submitted_at, r.written
      from (
        select ${verdictColumns}
        from integrity.verdicts
        where request_id = $1::uuid and org_id = $2 and body_sha256 = coalesce(
          -- Of two bodies under one Idempotency-Key the first is the request; the other is only remembered as refused.
          (select body_sha256 from integrity.request_bodies where request_id = $1::uuid),
          (
            select body_sha256
            from integrity.verdicts
            where request_id = $1::uuid and org_id = $2
            order by submitted_offset
            limit 1
          )
        )
      ) v
      full join (
        select *
        from edge.requests
        where request_id = $1::uuid and org_id = $2
      ) r on r.request_id = v.request_id
      order by v.batches, v.batch`,
    values: [requestId, orgId],
  })
  const [row] = rows
  return {
    verdicts: rows.flatMap(
      ({ noted_type, noted_sha256, batch_records, noted_lanes, submitted_at, written, ...verdict }) =>
        verdict.batch_id === null ? [] : [fromRow(verdict)],
    ),
    noted:
      row && row.noted_type !== null
        ? {
            requestId,
            orgId,
            type: row.noted_type,
            bodySha256: row.noted_sha256,
            batchRecords: row.batch_records,
            lanes: row.noted_lanes,
            submittedAt: row.submitted_at.getTime(),
            written: row.written,
          }
        : undefined,
  }
}

/** What became of a request, once all of its batches are decided. */
export type CompletedRequest = {
  requestId: string
  bodySha256: Buffer
  type: string
  batches: number
  accepted: number
  refused: number
  waiting: number
  decidedAt: Date
}

/** Those of these requests of which all batches are decided. Of two bodies under one Idempotency-Key each is one. */
export const findCompleted = (pool: Pool, orgId: string, requestIds: readonly string[]): Promise<CompletedRequest[]> =>
  rowsOf(pool, {
    name: 'find-completed',
    text: `
      select request_id as "requestId", body_sha256 as "bodySha256", min(type) as type, max(batches) as batches,
        sum(accepted)::bigint as accepted, sum(json_array_length(refused))::bigint as refused,
        sum(coalesce(json_array_length(waiting), 0))::bigint as waiting, max(decided_at) as "decidedAt"
      from integrity.verdicts
      where request_id = any ($2::uuid[]) and org_id = $1
      group by request_id, body_sha256
      having count(distinct batch) >= max(batches)`,
    values: [orgId, requestIds],
  })

/**
 * Notes requests, each at most once in a call. A request that is sent again replaces its note, except that a note of a request
 * which Kafka has whole keeps saying so. Resolves to the ids of the requests that were noted: a request is left out where its
 * Idempotency-Key was used with another body.
 */
export const saveRequests = async (pool: Pool, requests: readonly NotedRequest[]): Promise<Set<string>> => {
  const { rows } = await pool.query<{ request_id: string }>({
    name: 'save-requests',
    // Ordered, so that two edges that note the same requests wait for each other instead of deadlocking.
    text: `
      insert into edge.requests as kept
        (request_id, org_id, type, body_sha256, batch_records, submitted_at, written, lanes)
      select request_id, org_id, type, body_sha256, batch_records::integer[], submitted_at, written, lanes
      from unnest($1::uuid[], $2::text[], $3::text[], $4::bytea[], $5::text[], $6::timestamptz[], $7::integer[],
        $8::integer[])
        as given (request_id, org_id, type, body_sha256, batch_records, submitted_at, written, lanes)
      order by request_id
      on conflict (request_id) do update set
        batch_records = excluded.batch_records,
        lanes = excluded.lanes,
        submitted_at = excluded.submitted_at,
        written = case
          when kept.batch_records = excluded.batch_records and kept.written = cardinality(kept.batch_records)
          then kept.written
          else excluded.written
        end
      where kept.org_id = excluded.org_id and kept.body_sha256 = excluded.body_sha256
      returning request_id`,
    values: [
      ...listsOf(requests, 'requestId', 'orgId', 'type', 'bodySha256'),
      // An array of arrays must have rows of one length, so each row goes as its text.
      requests.map(({ batchRecords }) => numberList(batchRecords)),
      requests.map(({ submittedAt }) => new Date(submittedAt)),
      ...listsOf(requests, 'written', 'lanes'),
    ],
  })
  return new Set(rows.map(({ request_id }) => request_id))
}

/** Deletes at most `most` old notes, and notes whose batches are all decided: they must not outlive their verdicts. */
export const pruneRequests = (pool: Pool, retentionHours: number, most: number): Promise<number> =>
  changedBy(pool, {
    name: 'prune-requests',
    text: `
      delete from edge.requests
      where request_id in (
        select r.request_id
        from edge.requests r
        where r.submitted_at < now() - interval '1 hour'
          and (
            r.submitted_at < now() - make_interval(hours => $1)
            or cardinality(r.batch_records) <= (
              select count(*)
              from integrity.verdicts v
              where v.request_id = r.request_id and v.body_sha256 = r.body_sha256
            )
          )
        order by r.submitted_at
        limit $2
        for update of r skip locked
      )`,
    values: [retentionHours, most],
  })
