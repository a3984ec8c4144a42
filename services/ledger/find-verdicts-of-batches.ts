import type { Pool } from '#platform/postgres/postgres.js'
import type { VerdictEvent } from '#schemas/events.js'
import { toVerdict, type VerdictRow, verdictColumns } from './verdict-row.js'

export const findVerdictsOfBatches = async (pool: Pool, batchIds: readonly string[]): Promise<VerdictEvent[]> => {
  const { rows } = await pool.query<VerdictRow>({
    name: 'find-verdicts-of-batches',
    text: `
      select ${verdictColumns}
      from integrity.verdicts
      where batch_id = any ($1::uuid[])`,
    values: [batchIds],
  })
  return rows.map(toVerdict)
}
