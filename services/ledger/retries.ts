import type { Pool } from '#platform/postgres/postgres.js'

// integrity.retries: refused records that were submitted again. Each rejection is claimed once, before it is sent.

/** What identifies a rejection: its batch, and its index in the request. */
export type RejectionId = { batchId: string; index: number }

/** A text that is the same for the same rejection. */
export const rejectionName = ({ batchId, index }: RejectionId): string => `${batchId}/${index}`

/** Claims rejections for one request, before it is sent. Resolves to those that nobody had claimed before. */
export const claimRetries = async <C extends RejectionId & { org: string; type: string; rejectedAt: Date }>(
  pool: Pool,
  retryId: string,
  candidates: readonly C[],
): Promise<C[]> => {
  const { rows } = await pool.query<{ batch_id: string; index: number }>(
    `
    insert into integrity.retries (retry_id, batch_id, index, org_id, type, rejected_at, place)
    select $1, batch_id, index, org_id, type, rejected_at, place
    from unnest($2::uuid[], $3::integer[], $4::text[], $5::text[], $6::timestamptz[])
      with ordinality as given (batch_id, index, org_id, type, rejected_at, place)
    on conflict do nothing
    returning batch_id, index`,
    [
      retryId,
      candidates.map(({ batchId }) => batchId),
      candidates.map(({ index }) => index),
      candidates.map(({ org }) => org),
      candidates.map(({ type }) => type),
      candidates.map(({ rejectedAt }) => rejectedAt),
    ],
  )
  const claimed = new Set(rows.map(({ batch_id, index }) => rejectionName({ batchId: batch_id, index })))
  return candidates.filter((candidate) => claimed.has(rejectionName(candidate)))
}

/** What is known of a rejection that was submitted again; `outcome` is null until its request was answered. */
export type Retry = {
  retry_id: string
  claimed_at: Date
  outcome: 'accepted' | 'refused' | null
  request_id: string | null
  answered_at: Date | null
}

const mostAtOnce = 10_000

/** The retries of these rejections, by `rejectionName`. */
export const findRetries = async (pool: Pool, places: readonly RejectionId[]): Promise<Map<string, Retry>> => {
  const found = new Map<string, Retry>()
  for (let from = 0; from < places.length; from += mostAtOnce) {
    const some = places.slice(from, from + mostAtOnce)
    const { rows } = await pool.query<Retry & { batch_id: string; index: number }>(
      `
      select r.batch_id, r.index, r.retry_id, r.claimed_at, r.outcome, r.request_id, r.answered_at
      from unnest($1::uuid[], $2::integer[]) as wanted (batch_id, index)
      join integrity.retries r using (batch_id, index)`,
      [some.map(({ batchId }) => batchId), some.map(({ index }) => index)],
    )
    for (const { batch_id, index, ...retry } of rows) found.set(rejectionName({ batchId: batch_id, index }), retry)
  }
  return found
}

/**
 * A request that an earlier run claimed rejections for and whose answer it did not see; `wanted` in the order of the
 * request.
 */
export type Unanswered = {
  retryId: string
  org: string
  type: string
  claimedAt: Date
  wanted: (RejectionId & { rejectedAt: Date })[]
}

export const findUnanswered = async (pool: Pool): Promise<Unanswered[]> => {
  const { rows } = await pool.query<{
    retry_id: string
    org_id: string
    type: string
    claimed_at: Date
    batch_ids: string[]
    indexes: number[]
    times: Date[]
  }>(`
    select retry_id, org_id, type, min(claimed_at) as claimed_at, array_agg(batch_id order by place) as batch_ids,
      array_agg(index order by place) as indexes, array_agg(rejected_at order by place) as times
    from integrity.retries
    where outcome is null
    group by retry_id, org_id, type
    order by min(claimed_at), retry_id`)
  return rows.map(({ retry_id, org_id, type, claimed_at, batch_ids, indexes, times }) => ({
    retryId: retry_id,
    org: org_id,
    type,
    claimedAt: claimed_at,
    wanted: batch_ids.map((batchId, i) => ({ batchId, index: indexes[i] ?? 0, rejectedAt: times[i] ?? claimed_at })),
  }))
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
    `
    update integrity.retries r
    set outcome = given.outcome, request_id = $1, answered_at = now()
    from unnest($2::uuid[], $3::integer[], $4::text[]) as given (batch_id, index, outcome)
    where r.batch_id = given.batch_id and r.index = given.index`,
    [
      requestId,
      outcomes.map(({ batchId }) => batchId),
      outcomes.map(({ index }) => index),
      outcomes.map(({ outcome }) => outcome),
    ],
  )
}

/**
 * Removes at most `most` retries of rejections from before a moment. Rows that another process is removing are left to
 * that process.
 */
export const pruneRetries = async (pool: Pool, before: Date, most: number): Promise<number> => {
  const { rowCount } = await pool.query({
    name: 'prune-retries',
    text: `
      delete from integrity.retries
      where (batch_id, index) in (
        select batch_id, index
        from integrity.retries
        where rejected_at < $1
        order by rejected_at
        limit $2
        for update skip locked
      )`,
    values: [before, most],
  })
  return rowCount ?? 0
}

export const countPrunableRetries = async (pool: Pool, before: Date): Promise<number> => {
  const { rows } = await pool.query<{ count: number }>(
    'select count(*) as count from integrity.retries where rejected_at < $1',
    [before],
  )
  return rows[0]?.count ?? 0
}
