import type { RejectionId } from '#ledger/retries.js'
import type { ClickHouse } from '#platform/clickhouse.js'
import { database, logTableOf, rejectionsLog } from '#schemas/derive/names.js'
import type { RecordType } from '#schemas/record.js'
import { type Filter, whereOf } from './filter.js'
import { readTime } from './rejection.js'

/** A rejection that may be retried, without its record: there may be very many. */
export type Candidate = RejectionId & {
  org: string
  type: string
  rejectedAt: Date
  truncated: boolean
  /** How large its record is: bytes, and JSON values at the most. */
  bytes: number
  values: number
  /** Whether a later record of the same id was accepted, deleted ones among them. */
  superseded: boolean
}

type Row = Omit<Candidate, 'org' | 'type' | 'rejectedAt' | 'batchId'> & {
  org_id: string
  rejected_at: string
  batch_id: string
}

// A version is a place in the submitted log, and an organisation's records of a type share a partition: so a version tells
// what came later, where clocks might not. In that order they are sent, so that the last write wins again.
export const findCandidates = async (
  clickhouse: ClickHouse,
  type: RecordType,
  filter: Filter,
): Promise<Candidate[]> => {
  const { where, values } = whereOf({ ...filter, type: type.type })
  const rejections = `${database}.${rejectionsLog} final where ${where}`
  const rows = await clickhouse.query<Row>(
    `select r.org_id as org_id, r.batch_id as batch_id, r.index as index, r.rejected_at as rejected_at,
      r.truncated as truncated, r.bytes as bytes, r.values as values, newest.version > r.version as superseded
    from (
      select org_id, batch_id, index, rejected_at, version, truncated, toUUIDOrNull(id) as uuid,
        toUInt32(length(record)) as bytes,
        toUInt32(countSubstrings(record, ',') + countSubstrings(record, '[') + countSubstrings(record, '{') + 1) as values
      from ${rejections}
    ) as r
    left join (
      select org_id, \`${type.id}\` as uuid, max(version) as version
      from ${database}.${logTableOf(type.type)}
      where (org_id, \`${type.id}\`) in (
        select org_id, assumeNotNull(toUUIDOrNull(id)) from ${rejections} and toUUIDOrNull(id) is not null
      )
      group by org_id, uuid
    ) as newest on newest.org_id = r.org_id and newest.uuid = r.uuid
    order by r.org_id, r.version`,
    values,
  )
  return rows.map(({ org_id, rejected_at, batch_id, ...row }) => ({
    ...row,
    superseded: Boolean(row.superseded),
    org: org_id,
    type: type.type,
    rejectedAt: readTime(rejected_at),
    batchId: batch_id,
  }))
}
