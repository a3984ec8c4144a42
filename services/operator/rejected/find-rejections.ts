import { type RejectionId, rejectionName } from '#ledger/retries.js'
import type { ClickHouse } from '#platform/clickhouse.js'
import { stateTableOf } from '#schemas/derive/clickhouse.js'
import { database, rejectionsLog, rejectionsView } from '#schemas/derive/names.js'
import type { Problem } from '#schemas/problem.js'
import type { RecordType } from '#schemas/record.js'
import { type Filter, whereOf } from './filter.js'

// What ClickHouse is asked about refused records.

/** A refused record, as ClickHouse keeps it. */
export type Rejection = RejectionId & {
  rejectedAt: Date
  org: string
  type: string
  requestId: string
  id: string | null
  problems: Problem[]
  /** As JSON; of a message that nobody could read, its bytes in base64. */
  record: string
  truncated: boolean
}

type RejectionRow = Omit<Rejection, 'rejectedAt' | 'org' | 'requestId' | 'batchId'> & {
  rejected_at: string
  org_id: string
  request_id: string
  batch_id: string
}

/** The rejections that are meant: the newest first, those of one batch in its order. */
export const findRejections = async (
  clickhouse: ClickHouse,
  filter: Filter & { index?: number },
  limit: number,
): Promise<Rejection[]> => {
  const { index, ...rest } = filter
  const { where, values } = whereOf(rest)
  const rows = await clickhouse.query<RejectionRow>(
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

/** How many rejections are meant in all, and with each code; one with two codes counts for both. */
export const countByCode = async (
  clickhouse: ClickHouse,
  filter: Filter,
): Promise<{ total: number; byCode: Record<string, number> }> => {
  const { where, values } = whereOf(filter)
  const [all] = await clickhouse.query<{ total: number }>(
    `select toUInt32(count()) as total from ${database}.${rejectionsView} where ${where}`,
    values,
  )
  const rows = await clickhouse.query<{ name: string; rows: number }>(
    `select arrayJoin(arrayDistinct(problems.code)) as name, toUInt32(count()) as rows
    from ${database}.${rejectionsView}
    where ${where}
    group by name
    order by rows desc, name`,
    values,
  )
  return { total: all?.total ?? 0, byCode: Object.fromEntries(rows.map(({ name, rows }) => [name, rows])) }
}

/** How many rejections of each type are meant. */
export const countByType = async (clickhouse: ClickHouse, filter: Filter): Promise<Map<string, number>> => {
  const { where, values } = whereOf(filter)
  const rows = await clickhouse.query<{ name: string; rows: number }>(
    `select type as name, toUInt32(count()) as rows
    from ${database}.${rejectionsView}
    where ${where}
    group by name`,
    values,
  )
  return new Map(rows.map(({ name, rows }) => [name, rows]))
}

/** A rejection that may be retried, without its record: there may be very many. */
export type Candidate = RejectionId & {
  org: string
  type: string
  rejectedAt: Date
  truncated: boolean
  /** How large its record is: bytes, and JSON values at the most. */
  bytes: number
  values: number
  /** Whether a later record of the same id was accepted, be it one that deletes. */
  superseded: boolean
}

type CandidateRow = Omit<Candidate, 'org' | 'type' | 'rejectedAt' | 'batchId'> & {
  org_id: string
  rejected_at: string
  batch_id: string
}

// A version is a place in the submitted log, and an organisation's records of a type share a partition: so a version shows
// what came later, where clocks might not. They are sent in that order, so that the last write wins again.
export const findCandidates = async (
  clickhouse: ClickHouse,
  type: RecordType,
  filter: Filter,
): Promise<Candidate[]> => {
  const { where, values } = whereOf({ ...filter, type: type.type })
  const rejections = `${database}.${rejectionsLog} final where ${where}`
  const rows = await clickhouse.query<CandidateRow>(
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
      from ${database}.${stateTableOf(type)}
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

/** A rejection whose record is to be sent again. */
export type Wanted = RejectionId & { rejectedAt: Date }

// Values travel in the address, of which ClickHouse takes up to 128 KiB a value.
const mostAtOnce = 1000

/** The records of these rejections of one organisation, as they are kept, by `rejectionName`; what is gone is left out. */
export const findRecords = async (
  clickhouse: ClickHouse,
  org: string,
  wanted: readonly Wanted[],
): Promise<Map<string, string>> => {
  const found = new Map<string, string>()
  for (let from = 0; from < wanted.length; from += mostAtOnce) {
    const some = wanted.slice(from, from + mostAtOnce)
    const times = some.map(({ rejectedAt }) => rejectedAt.getTime())
    const rows = await clickhouse.query<{ batch_id: string; index: number; record: string }>(
      `select batch_id, index, record
      from ${database}.${rejectionsView}
      where org_id = {org:String} and batch_id in {batches:Array(UUID)}
        and rejected_at between fromUnixTimestamp64Milli({first:Int64}, 'UTC') and fromUnixTimestamp64Milli({last:Int64}, 'UTC')`,
      {
        org,
        batches: [...new Set(some.map(({ batchId }) => batchId))],
        first: times.reduce((a, b) => Math.min(a, b)),
        last: times.reduce((a, b) => Math.max(a, b)),
      },
    )
    const names = new Set(some.map(rejectionName))
    for (const { batch_id, index, record } of rows) {
      const name = rejectionName({ batchId: batch_id, index })
      if (names.has(name)) found.set(name, record)
    }
  }
  return found
}

/** ClickHouse writes times in UTC, and leaves out that they are. */
const readTime = (text: string): Date => new Date(`${text.replace(' ', 'T')}Z`)
