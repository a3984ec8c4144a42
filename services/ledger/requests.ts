import type { Pool } from '#platform/postgres/postgres.js'
import type { StoredRequest } from '../edge/requests/stored-request.js'
import { toVerdict, type VerdictRow, verdictColumns } from './verdict-row.js'

type Noted = {
  noted_type: string
  noted_sha256: Buffer
  batch_records: number[]
  submitted_at: Date
  written: number | null
}
type Row = (VerdictRow | Record<keyof VerdictRow, null>) & (Noted | Record<keyof Noted, null>)

/** An organisation's own: another's request is as good as absent. Both in one statement, so that no pruning falls between. */
export const findRequest = async (pool: Pool, orgId: string, requestId: string): Promise<StoredRequest> => {
  const { rows } = await pool.query<Row>({
    name: 'find-request',
    text: `
      select v.*, r.type as noted_type, r.body_sha256 as noted_sha256, r.batch_records, r.submitted_at, r.written
      from (
        select ${verdictColumns}
        from integrity.verdicts
        where request_id = $1::uuid and org_id = $2
      ) v
      full join (
        select *
        from edge.requests
        where request_id = $1::uuid and org_id = $2
      ) r on r.request_id = v.request_id
      order by v.batches, v.batch`,
    values: [requestId, orgId],
  })
  const [row] = rows
  return {
    verdicts: rows.flatMap(({ noted_type, noted_sha256, batch_records, submitted_at, written, ...verdict }) =>
      verdict.batch_id === null ? [] : [toVerdict(verdict)],
    ),
    noted:
      row && row.noted_type !== null
        ? {
            requestId,
            orgId,
            type: row.noted_type,
            bodySha256: row.noted_sha256,
            batchRecords: row.batch_records,
            submittedAt: row.submitted_at.getTime(),
            written: row.written,
          }
        : undefined,
  }
}
