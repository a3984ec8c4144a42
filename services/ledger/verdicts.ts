import type { Connection, Pool } from '#platform/postgres/postgres.js'
import type { Refused } from '#schemas/problem.js'
import type { StoredVerdict } from './stored-verdict.js'

type Row = Omit<StoredVerdict, 'decided_at' | 'refused'> & { decided_at: Date; refused: Refused[] }

export const findVerdicts = async (
  connection: Connection | Pool,
  batchIds: readonly string[],
): Promise<Map<string, StoredVerdict>> => {
  if (batchIds.length === 0) return new Map()
  const { rows } = await connection.query<Row>({
    name: 'find-verdicts',
    text: `
      select batch_id, org_id, request_id, type, batch, batches, first_index, body_sha256, accepted, refused, repeated,
        decided_at, topic, partition, submitted_offset
      from integrity.verdicts
      where batch_id = any ($1::uuid[])`,
    values: [batchIds],
  })
  return new Map(rows.map((row) => [row.batch_id, { ...row, decided_at: row.decided_at.getTime() }]))
}
