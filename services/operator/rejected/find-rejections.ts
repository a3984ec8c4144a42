import type { ClickHouse } from '#platform/clickhouse.js'
import { database, rejectionsView } from '#schemas/derive/names.js'
import type { Problem } from '#schemas/problem.js'
import { type Filter, whereOf } from './filter.js'
import { type Rejection, readTime } from './rejection.js'

type Row = {
  rejected_at: string
  org_id: string
  type: string
  request_id: string
  batch_id: string
  index: number
  id: string | null
  problems: Problem[]
  record: string
  truncated: boolean
}

/** The rejections that are meant: the newest first, those of one batch in its order. */
export const findRejections = async (
  clickhouse: ClickHouse,
  filter: Filter & { index?: number },
  limit: number,
): Promise<Rejection[]> => {
  const { index, ...rest } = filter
  const { where, values } = whereOf(rest)
  const rows = await clickhouse.query<Row>(
    `select rejected_at, org_id, type, request_id, batch_id, index, id, problems, record, truncated
    from ${database}.${rejectionsView}
    where ${where}${index === undefined ? '' : ' and index = {index:UInt32}'}
    order by rejected_at desc, batch_id, index
    limit {limit:UInt32}`,
    { ...values, index: index ?? 0, limit },
  )
  return rows.map(({ rejected_at, org_id, request_id, batch_id, ...row }) => ({
    ...row,
    rejectedAt: readTime(rejected_at),
    org: org_id,
    requestId: request_id,
    batchId: batch_id,
  }))
}
