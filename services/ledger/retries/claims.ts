import type { Connection, Pool } from '#platform/postgres/postgres.js'
import { firstRow, listsOf, rowsOf } from '#platform/postgres/rows.js'

// integrity.retries: refused records that were submitted again. Each rejection is claimed once, before it is sent.

/** What identifies a rejection: its batch, and its index in the request. */
export type RejectionId = { batchId: string; index: number }

/** A text that is the same for the same rejection. */
export const rejectionName = ({ batchId, index }: RejectionId): string => `${batchId}/${index}`

/** A rejection that is to be claimed for the request with this Idempotency-Key; `id` is that of its record, where it is a UUID. */
export type Claim = RejectionId & {
  retryId: string
  org: string
  type: string
  rejectedAt: Date
  id?: string | null | undefined
}

/**
 * Claims rejections before they are sent, for an order where one is named. Resolves to those that were not claimed before, as given.
 * Claimed in the order of their ids, so that two claims of the same ones never wait for each other in a circle.
 */
export const claimRetries = async <C extends Claim>(
  db: Pool | Connection,
  claims: readonly C[],
  orderId: string | null = null,
): Promise<C[]> => {
  const rows = await rowsOf<RejectionId>(
    db,
    `insert into integrity.retries (order_id, retry_id, batch_id, index, org_id, type, rejected_at, has_id, place)
    select $1, retry_id, batch_id, index, org_id, type, rejected_at, id is not null, place
    from unnest($2::uuid[], $3::uuid[], $4::integer[], $5::text[], $6::text[], $7::timestamptz[], $8::text[])
      with ordinality as given (retry_id, batch_id, index, org_id, type, rejected_at, id, place)
    order by batch_id, index
    on conflict do nothing
    returning batch_id as "batchId", index`,
    [orderId, ...listsOf<Claim, keyof Claim>(claims, 'retryId', 'batchId', 'index', 'org', 'type', 'rejectedAt', 'id')],
  )
  const claimed = new Set(rows.map(rejectionName))
  return claims.filter((claim) => claimed.has(rejectionName(claim)))
}

/** What is known of a rejection that was submitted again; `outcome` is null until its request was answered. */
export type Retry = {
  retry_id: string
  claimed_at: Date
  outcome: 'accepted' | 'refused' | null
  request_id: string | null
  answered_at: Date | null
  /** The uploader's order that it was claimed for; null where an operator retried it. */
  order_id: string | null
}

const mostAtOnce = 10_000

/** The retries of these rejections, by `rejectionName`. */
export const findRetries = async (pool: Pool, places: readonly RejectionId[]): Promise<Map<string, Retry>> => {
  const found = new Map<string, Retry>()
  for (let from = 0; from < places.length; from += mostAtOnce) {
    const some = places.slice(from, from + mostAtOnce)
    const rows = await rowsOf<Retry & RejectionId>(
      pool,
      `select r.batch_id as "batchId", r.index, r.retry_id, r.claimed_at, r.outcome, r.request_id, r.answered_at,
        case when o.by_operator then null else r.order_id end as order_id
      from unnest($1::uuid[], $2::integer[]) as wanted (batch_id, index)
      join integrity.retries r using (batch_id, index)
      left join integrity.retry_orders o on o.order_id = r.order_id`,
      listsOf(some, 'batchId', 'index'),
    )
    for (const { batchId, index, ...retry } of rows) found.set(rejectionName({ batchId, index }), retry)
  }
  return found
}

/**
 * A request that rejections were claimed for and whose answer is not known; `wanted` in the order of the request. `isSent` where
 * an edge has begun to send it; `keyId` is the API key that it was ordered with, as far as that is known. `orderId` is null where an
 * operator of an older version had begun to send it without an order.
 */
export type Unanswered = {
  retryId: string
  orderId: string | null
  evenSuperseded: boolean
  org: string
  type: string
  isSent: boolean
  keyId: string | null
  change: FieldChange | null
  wanted: (RejectionId & { rejectedAt: Date })[]
}

/** What an order changes in each of its records: the value of a field becomes `to`; without one, the field is left out. */
export type FieldChange = { field: string; to?: unknown }

/** Requests of operators' runs that have ended without their answer. */
export const findUnanswered = (pool: Pool): Promise<Unanswered[]> =>
  readUnanswered(pool, '(r.order_id is null or o.by_operator)', [], 1e9)

/** The first requests that were ordered for an organisation and are not answered, in the order in which they are to be sent. */
export const findOrdered = (pool: Pool, org: string, most: number): Promise<Unanswered[]> =>
  readUnanswered(pool, 'r.order_id is not null and r.org_id = $2', [org], most)

const readUnanswered = async (
  pool: Pool,
  condition: string,
  values: readonly unknown[],
  most: number,
): Promise<Unanswered[]> => {
  type Row = Omit<Unanswered, 'wanted'> & { wanted: (RejectionId & { rejectedAt: string })[] }
  const rows = await rowsOf<Row>(
    pool,
    `select r.retry_id as "retryId", r.order_id as "orderId", coalesce(o.even_superseded, false) as "evenSuperseded",
      r.org_id as org, r.type, bool_or(sent_at is not null) as "isSent", o.key_id as "keyId", o.change,
      json_agg(
        json_build_object('batchId', batch_id, 'index', index, 'rejectedAt', coalesce(rejected_at, claimed_at))
        order by place
      ) as wanted
    from integrity.retries r
    left join integrity.retry_orders o on o.order_id = r.order_id
    where r.outcome is null and ${condition}
    group by r.retry_id, r.order_id, r.org_id, r.type, o.order_id
    order by min(claimed_at), r.retry_id
    limit $1`,
    [most, ...values],
  )
  return rows.map((row) => ({
    ...row,
    wanted: row.wanted.map((one) => ({ ...one, rejectedAt: new Date(one.rejectedAt) })),
  }))
}

/** Puts requests that were begun without an order under one. They may have been sent: each is sent as it is, or given up as a whole. */
export const adoptRetries = async (pool: Pool, orderId: string, retryIds: readonly string[]): Promise<void> => {
  await pool.query(
    `update integrity.retries
    set order_id = $1, sent_at = coalesce(sent_at, claimed_at)
    where retry_id = any ($2::uuid[]) and order_id is null and outcome is null`,
    [orderId, retryIds],
  )
}

/** What became so far of the rejections that were claimed for these requests. */
export const countOutcomes = async (pool: Pool, retryIds: readonly string[]): Promise<OutcomeCounts> => {
  const counts = await firstRow<OutcomeCounts>(
    pool,
    `select count(*) filter (where outcome = 'accepted') as accepted,
      count(*) filter (where outcome = 'refused') as refused, count(*) filter (where outcome is null) as waiting
    from integrity.retries
    where retry_id = any ($1::uuid[])`,
    [retryIds],
  )
  return counts ?? { accepted: 0, refused: 0, waiting: 0 }
}
type OutcomeCounts = { accepted: number; refused: number; waiting: number }

/** The requests that an order had planned before this one, and that are answered. Their ids grow in the order of the plan. */
export const findEarlierRequests = async (
  pool: Pool,
  { orderId, retryId }: Pick<Unanswered, 'orderId' | 'retryId'>,
): Promise<Set<string>> => {
  const { rows } = await pool.query<{ request_id: string }>(
    `select distinct request_id
    from integrity.retries
    where order_id = $1 and retry_id < $2 and request_id is not null`,
    [orderId, retryId],
  )
  return new Set(rows.map(({ request_id }) => request_id))
}

/** The organisations with ordered requests that are not answered, the longest waiting first. */
export const findOrderingOrgs = async (pool: Pool, most: number): Promise<string[]> => {
  const { rows } = await pool.query<{ org_id: string }>(
    `select org_id
    from integrity.retries
    where outcome is null and order_id is not null
    group by org_id
    order by min(claimed_at)
    limit $1`,
    [most],
  )
  return rows.map(({ org_id }) => org_id)
}

/** Notes that these requests are about to be sent: from now on each is sent as it is, or given up as a whole. */
export const markSent = async (pool: Pool, retryIds: readonly string[]): Promise<void> => {
  await pool.query(
    'update integrity.retries set sent_at = now() where retry_id = any ($1::uuid[]) and sent_at is null and outcome is null',
    [retryIds],
  )
}

/** Gives back some of the rejections that were claimed for a request which was never sent. */
export const releaseSome = async (pool: Pool, retryId: string, some: readonly RejectionId[]): Promise<void> => {
  await pool.query(
    `delete from integrity.retries r
    using unnest($2::uuid[], $3::integer[]) as given (batch_id, index)
    where r.batch_id = given.batch_id and r.index = given.index and r.retry_id = $1 and r.outcome is null and r.sent_at is null`,
    [retryId, ...listsOf(some, 'batchId', 'index')],
  )
}

/** Gives back the rejections that were claimed for a request which the edge never took. */
export const releaseRetries = async (pool: Pool, retryId: string): Promise<void> => {
  await pool.query('delete from integrity.retries where retry_id = $1 and outcome is null', [retryId])
}

/** Stores what became of the rejections of one request; from then on they are never sent again. */
export const settleRetries = async (
  pool: Pool,
  requestId: string,
  outcomes: readonly (RejectionId & { outcome: 'accepted' | 'refused' })[],
): Promise<void> => {
  await pool.query(
    `update integrity.retries r
    set outcome = given.outcome, request_id = $1, answered_at = now()
    from unnest($2::uuid[], $3::integer[], $4::text[]) as given (batch_id, index, outcome)
    where r.batch_id = given.batch_id and r.index = given.index and r.outcome is null`,
    [requestId, ...listsOf(outcomes, 'batchId', 'index', 'outcome')],
  )
}
