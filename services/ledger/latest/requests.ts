import type { Pool } from '#platform/postgres/postgres.js'
import { rowsOf } from '#platform/postgres/rows.js'

// An organisation's requests, the newest first, from integrity.verdicts and, for what is not decided yet, edge.requests.

/** A request as it stands in a list. `at` is when its first batch was decided, or else when it was submitted. */
export type ListedRequest = {
  requestId: string
  type: string
  at: Date
  /** How many batches it was cut into, and how many of them are decided. */
  batches: number
  decided: number
  /** Of the decided batches, as things stand now: what waited when they were decided may have been accepted or refused since. */
  accepted: number
  refused: number
  waiting: number
  /** Those whose waiting ended without a decision: a newer one of their id came, or somebody cancelled it. */
  undecided: number
  /** In all; null where that is known only once all of it is decided. */
  records: number | null
}

/** Where a page ended: the last request of it. */
export type AfterRequest = { at: Date; requestId: string }

type Asked = { orgId: string; types: readonly string[]; after?: AfterRequest | undefined; most: number }

/** Requests whose first batch is decided, each once. What was decided anew (a resumed batch is a request by itself) is none. */
export const listDecidedRequests = (pool: Pool, asked: Asked): Promise<ListedRequest[]> =>
  rowsOf(pool, {
    name: 'list-decided-requests',
    text: `
      select first.request_id as "requestId", first.type, first.decided_at as at, first.batches,
        whole.decided, ${present}, null::integer as records
      from (
        select latest.*
        from unnest($2::text[]) as wanted (type)
        cross join lateral (
          select v.request_id, v.type, v.decided_at, v.batches, v.body_sha256
          from integrity.verdicts v
          where v.org_id = $1 and v.type = wanted.type and v.batch = 1 and v.request_id <> v.batch_id
            and ($3::timestamptz is null or (v.decided_at, v.request_id) < ($3, $4::uuid))
          order by v.decided_at desc, v.request_id desc
          limit $5
        ) as latest
        order by latest.decided_at desc, latest.request_id desc
        limit $5
      ) as first
      cross join lateral (
        select ${sums}
        from integrity.verdicts v
        where v.request_id = first.request_id and v.org_id = $1 and v.batches = first.batches
          and v.body_sha256 = first.body_sha256
      ) as whole
      ${withEnded}
      order by first.decided_at desc, first.request_id desc`,
    values: valuesOf(asked),
  })

/** Requests that were noted because they took long, and whose first batch is not decided yet. */
export const listPendingRequests = (pool: Pool, asked: Asked): Promise<ListedRequest[]> =>
  rowsOf(pool, {
    name: 'list-pending-requests',
    text: `
      select r.request_id as "requestId", r.type, r.submitted_at as at, cardinality(r.batch_records) as batches,
        whole.decided, ${present},
        (select sum(count) from unnest(r.batch_records) as count) as records
      from edge.requests r
      cross join lateral (
        select ${sums}, bool_or(v.batch = 1) as has_first
        from integrity.verdicts v
        where v.request_id = r.request_id and v.org_id = $1 and v.body_sha256 = r.body_sha256
      ) as whole
      ${withEnded}
      where r.org_id = $1 and r.type = any ($2::text[]) and whole.has_first is not true
        and ($3::timestamptz is null or (r.submitted_at, r.request_id) < ($3, $4::uuid))
      order by r.submitted_at desc, r.request_id desc
      limit $5`,
    values: valuesOf(asked),
  })

// A verdict is never changed: what became of the records that it left waiting stands in integrity.waiting.
const sums = `count(*) as decided, coalesce(sum(v.accepted), 0) as accepted,
          coalesce(sum(json_array_length(v.refused)), 0) as refused, coalesce(sum(json_array_length(v.waiting)), 0) as waited,
          array_agg(v.batch_id) filter (where v.waiting is not null) as waited_in`
const withEnded = `cross join lateral (
        select count(*) filter (where w.state = 'accepted') as accepted, count(*) filter (where w.state = 'refused') as refused,
          count(*) filter (where w.state in ('superseded', 'cancelled')) as undecided
        from integrity.waiting w
        where w.batch_id = any (whole.waited_in)
      ) as ended`
const present = `whole.accepted + ended.accepted as accepted, whole.refused + ended.refused as refused,
        whole.waited - ended.accepted - ended.refused - ended.undecided as waiting, ended.undecided`

const valuesOf = ({ orgId, types, after, most }: Asked) => [
  orgId,
  types,
  after?.at ?? null,
  after?.requestId ?? null,
  most,
]
