import type { Pool } from '#platform/postgres/postgres.js'
import type { Place } from '../operator/rejected/rejection.js'

/** Keeps what became of the rejections of one request; from then on they are never sent again. */
export const settleRetries = async (
  pool: Pool,
  requestId: string,
  outcomes: readonly (Place & { outcome: 'accepted' | 'refused' })[],
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
