import type { Pool } from '#platform/postgres.js'
import type { VerdictEvent } from '#schemas/events.js'
import { toVerdict, type VerdictRow, verdictColumns } from './verdict-row.js'

/** Only an organisation's own: another's request is as good as absent. */
export const findVerdictsOfRequest = async (pool: Pool, orgId: string, requestId: string): Promise<VerdictEvent[]> => {
  const { rows } = await pool.query<VerdictRow>({
    name: 'find-verdicts-of-request',
    text: `
      select ${verdictColumns}
      from integrity.verdicts
      where request_id = $1::uuid and org_id = $2
      order by batches, batch`,
    values: [requestId, orgId],
  })
  return rows.map(toVerdict)
}
