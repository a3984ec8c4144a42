import type { Connection, Pool } from '#platform/postgres/postgres.js'
import { rowsOf } from '#platform/postgres/rows.js'
import type { Reference } from '#schemas/record.js'

/** A record that waits for one that is missing. */
export type WaitSample = {
  missingType: string
  missingId: string
  type: string
  id: string
  missing: Reference[]
  requestId: string
  index: number
  until: Date
}

/** For each missing record, at most `most` of those that wait for it; which ones, the index decides: no sorting. */
export const findWaitSamples = async (
  db: Pool | Connection,
  orgId: string,
  missing: readonly { type: string; id: string }[],
  most: number,
): Promise<WaitSample[]> => {
  if (missing.length === 0) return []
  return rowsOf<WaitSample>(
    db,
    `select m.type as "missingType", m.id as "missingId", behind.*
    from unnest($2::text[], $3::uuid[]) as m (type, id)
    cross join lateral (
      select w.type, w.id, w.missing, w.request_id as "requestId", w.request_index as "index", w.until
      from integrity.waiting_for f
      join integrity.waiting w using (batch_id, place)
      where f.org_id = $1 and f.type = m.type and f.id = m.id
      limit $4
    ) behind`,
    [orgId, missing.map(({ type }) => type), missing.map(({ id }) => id), most],
  )
}
