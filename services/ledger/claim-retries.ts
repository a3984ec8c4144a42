import type { Pool } from '#platform/postgres/postgres.js'
import type { Candidate } from '../operator/rejected/find-candidates.js'
import { placeOf } from '../operator/rejected/rejection.js'

/** Claims rejections for one request, before it is sent; those that are left were claimed by nobody before. */
export const claimRetries = async <C extends Pick<Candidate, 'batchId' | 'index' | 'org' | 'type' | 'rejectedAt'>>(
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
  const claimed = new Set(rows.map(({ batch_id, index }) => placeOf({ batchId: batch_id, index })))
  return candidates.filter((candidate) => claimed.has(placeOf(candidate)))
}
