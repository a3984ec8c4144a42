import type { Pool } from '#platform/postgres/postgres.js'
import { type Place, placeOf } from '../operator/rejected/rejection.js'

/** What is known of a rejection that was submitted again; without an outcome while its request was not answered. */
export type Retry = {
  retry_id: string
  claimed_at: Date
  outcome: 'accepted' | 'refused' | null
  request_id: string | null
  answered_at: Date | null
}

const mostAtOnce = 10_000

/** The retries of these rejections, by their places. */
export const findRetries = async (pool: Pool, places: readonly Place[]): Promise<Map<string, Retry>> => {
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
    for (const { batch_id, index, ...retry } of rows) found.set(placeOf({ batchId: batch_id, index }), retry)
  }
  return found
}
