import { type RejectionId, rejectionName } from '#ledger/retries/claims.js'
import type { ClickHouse } from '#platform/clickhouse.js'
import { stateTableOf } from '#schemas/derive/clickhouse.js'
import { database, rejectionsLog, rejectionsView } from '#schemas/derive/names.js'
import type { Problem } from '#schemas/problem.js'
import type { RecordType } from '#schemas/record.js'
import { type Filter, isReadable, jsonValue, whereOf } from './filter.js'

// What ClickHouse is asked about refused records.

export type Reader = Pick<ClickHouse, 'query'>

/** A refused record, as ClickHouse keeps it. */
export type Rejection = RejectionId & {
  rejectedAt: Date
  org: string
  type: string
  requestId: string
  id: string | null
  /** Its place in the submitted log: of two records with one id, the higher one came later. */
  version: number
  problems: Problem[]
  /** As JSON; of a message that was unreadable, its bytes in base64. */
  record: string
  truncated: boolean
}

type RejectionRow = Omit<Rejection, 'rejectedAt' | 'version'> & { rejectedAt: string; version: string }

/** A place among the rejections, in the order in which they are listed. */
export type RejectionPlace = RejectionId & { rejectedAt: Date }

/** The rejections that are meant, behind `after`, the newest first; about `mostBytes` of records at the most, but at least one. */
export const findRejections = async (
  clickhouse: Reader,
  filter: Filter & { index?: number; after?: RejectionPlace },
  limit: number,
  mostBytes = Number.MAX_SAFE_INTEGER,
): Promise<Rejection[]> => {
  const { index, after, ...rest } = filter
  const { where, values, settings } = whereOf(rest)
  const conditions = [
    where,
    ...(index === undefined ? [] : ['index = {index:UInt32}']),
    // The first of these lets ClickHouse use its sorting key, the second settles what was refused in the same millisecond.
    ...(after
      ? [
          `rejected_at <= ${afterTime}`,
          `(rejected_at < ${afterTime} or (batch_id, index) > ({after_batch:UUID}, {after_index:UInt32}))`,
        ]
      : []),
  ]
  const order = 'order by rejected_at desc, batch_id, index'
  const rows = await clickhouse.query<RejectionRow>(
    `select rejected_at as rejectedAt, org_id as org, type, request_id as requestId, batch_id as batchId, index, id, version,
      problems, record, truncated
    from (
      select *, sum(length(record)) over (${order} rows between unbounded preceding and current row) - length(record) as bytes_before
      from (
        select rejected_at, org_id, type, request_id, batch_id, index, id, version, problems, record, truncated
        from ${database}.${rejectionsLog} final
        where ${conditions.join(' and ')}
        ${order}
        limit {limit:UInt32}
      )
    )
    where bytes_before < {most_bytes:UInt64}
    ${order}`,
    {
      ...values,
      ...(index !== undefined && { index }),
      ...(after && { after: after.rejectedAt.getTime(), after_batch: after.batchId, after_index: after.index }),
      limit,
      most_bytes: mostBytes,
    },
    settings,
  )
  return rows.map((row) => ({ ...row, rejectedAt: readTime(row.rejectedAt), version: Number(row.version) }))
}

const afterTime = `fromUnixTimestamp64Milli({after:Int64}, 'UTC')`

/** How many rejections are meant in all, and with each code; one with two codes counts for both. */
export const countByCode = async (
  clickhouse: Reader,
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

/** The commonest values of a field in the records that are meant, as JSON; null where the field is not there. */
export const countValues = (
  clickhouse: Reader,
  filter: Filter,
  field: string,
  most: number,
): Promise<{ value: string; rows: number }[]> => {
  const { where, values, settings } = whereOf(filter)
  return clickhouse.query(
    `select ${jsonValue} as value, toUInt32(count()) as rows
    from ${database}.${rejectionsLog} final
    where ${where} and ${isReadable} and length(value) <= ${longestValue}
    group by value
    order by rows desc, value
    limit {most:UInt32}`,
    { ...values, value_field: field, most },
    settings,
  )
}
// Longer ones are hardly the same mistake made often, and a hundred of them would be megabytes.
const longestValue = 1000

/** How many rejections of each type are meant; of the type of `after`, those behind it. */
export const countByType = async (
  clickhouse: Reader,
  filter: Filter,
  after?: CandidatePlace & { type: string },
): Promise<Map<string, number>> => {
  const { where, values, settings } = whereOf(filter)
  const rows = await clickhouse.query<{ name: string; rows: number }>(
    `select type as name, toUInt32(count()) as rows
    from ${database}.${rejectionsLog} final
    where ${where}${after ? ` and (type != {after_type:String} or ${behind})` : ''}
    group by name`,
    { ...values, ...(after && { after_type: after.type, ...behindValues(after) }) },
    settings,
  )
  return new Map(rows.map(({ name, rows }) => [name, rows]))
}

/** A rejection that may be retried, without its record: there may be very many. */
export type Candidate = RejectionId & {
  org: string
  type: string
  rejectedAt: Date
  /** Its place in the submitted log. */
  version: number
  truncated: boolean
  /** How large its record is: bytes, and JSON values at the most. */
  bytes: number
  values: number
  /** The record's id in one spelling; null where it is no UUID. */
  id: string | null
  /** Whether a later record of the same id was accepted, be it one that deletes; and the request of the last one of that id. */
  superseded: boolean
  supersededBy: string | null
}

type CandidateRow = Omit<Candidate, 'type' | 'rejectedAt' | 'version'> & { rejectedAt: string; version: string }

/** Those that may be retried, in the order of the submitted log: sent in that order, the last write wins again. */
export const findCandidates = (clickhouse: Reader, type: RecordType, filter: Filter): Promise<Candidate[]> =>
  readCandidates(clickhouse, type, filter, 'order by r.org_id, r.version')

/** A place among the candidates of a type. */
export type CandidatePlace = RejectionId & { version: number }

/** The first `most` candidates of one organisation behind a place, in the order of the submitted log. */
export const findSomeCandidates = (
  clickhouse: Reader,
  type: RecordType,
  filter: Filter,
  { most, after }: { most: number; after: CandidatePlace | undefined },
): Promise<Candidate[]> =>
  readCandidates(clickhouse, type, filter, `order by ${candidateOrder} limit ${Math.floor(most)}`, {
    ...(after && { condition: behind, values: behindValues(after) }),
  })

const candidateOrder = 'r.version, r.batch_id, r.index'
const behind = '(version, batch_id, index) > ({after_version:UInt64}, {after_batch:UUID}, {after_index:UInt32})'
const behindValues = ({ version, batchId, index }: CandidatePlace) => ({
  after_version: version,
  after_batch: batchId,
  after_index: index,
})

/** These rejections of one organisation, as they are by now. */
export const findWanted = async (
  clickhouse: Reader,
  type: RecordType,
  org: string,
  wanted: readonly Wanted[],
): Promise<Candidate[]> => {
  const found: Candidate[] = []
  for (const { since, until, ...places } of inPieces(wanted))
    found.push(
      ...(await readCandidates(clickhouse, type, { org, since, until }, '', { condition: atPlaces, values: places })),
    )
  return found
}

// Records of one id share a partition, so that their versions, places in the log, show what came later; clocks might not.
const readCandidates = async (
  clickhouse: Reader,
  type: RecordType,
  filter: Filter,
  orderAndLimit: string,
  more: { condition?: string; values?: Record<string, unknown> } = {},
): Promise<Candidate[]> => {
  const { where, values, settings } = whereOf({ ...filter, type: type.type })
  const rejections = `${database}.${rejectionsLog} final where ${where} and ${more.condition ?? 'true'}`
  const rows = await clickhouse.query<CandidateRow>(
    `select r.org_id as org, r.batch_id as batchId, r.index as index, r.version as version, r.rejected_at as rejectedAt,
      r.truncated as truncated, r.bytes as bytes, r.values as values, newest.last_version > r.version as superseded,
      toString(newest.last_request) as supersededBy, toString(r.uuid) as id
    from (
      select org_id, batch_id, index, rejected_at, version, truncated, toUUIDOrNull(id) as uuid,
        toUInt32(length(record)) as bytes,
        toUInt32(countSubstrings(record, ',') + countSubstrings(record, '[') + countSubstrings(record, '{') + 1) as values
      from ${rejections}
    ) as r
    left join (
      select org_id, \`${type.id}\` as uuid, max(version) as last_version, argMax(request_id, version) as last_request
      from ${database}.${stateTableOf(type)}
      where (org_id, \`${type.id}\`) in (
        select org_id, assumeNotNull(toUUIDOrNull(id)) from ${rejections} and toUUIDOrNull(id) is not null
      )
      group by org_id, uuid
    ) as newest on newest.org_id = r.org_id and newest.uuid = r.uuid
    ${orderAndLimit}`,
    { ...values, ...more.values },
    settings,
  )
  return rows.map((row) => ({
    ...row,
    version: Number(row.version),
    type: type.type,
    rejectedAt: readTime(row.rejectedAt),
    superseded: Boolean(row.superseded),
    supersededBy: row.superseded ? row.supersededBy : null,
  }))
}

/** A rejection whose record is to be sent again. */
export type Wanted = RejectionId & { rejectedAt: Date; id?: string | null | undefined }

/** The records of these rejections of one organisation, as they are kept, by `rejectionName`; what is gone is left out. */
export const findRecords = async (
  clickhouse: Reader,
  org: string,
  wanted: readonly Wanted[],
): Promise<Map<string, string>> => {
  const found = new Map<string, string>()
  for (const { since, until, ...places } of inPieces(wanted)) {
    const { where, values } = whereOf({ org, since, until })
    const rows = await clickhouse.query<RejectionId & { record: string }>(
      `select batch_id as batchId, index, record from ${database}.${rejectionsView} where ${where} and ${atPlaces}`,
      { ...values, ...places },
    )
    for (const one of rows) found.set(rejectionName(one), one.record)
  }
  return found
}

// Values travel in the address, of which ClickHouse takes up to 128 KiB a value.
const mostAtOnce = 1000

type Places = { batches: string[]; indexes: number[] }

const atPlaces = `(batch_id, index) in (
  select place.1, place.2 from (select arrayJoin(arrayZip({batches:Array(UUID)}, {indexes:Array(UInt32)})) as place)
)`

/** Rejections, a thousand at a time: their places, and the time in which they were refused. */
const inPieces = (wanted: readonly Wanted[]): (Places & { since: Date; until: Date })[] =>
  Array.from({ length: Math.ceil(wanted.length / mostAtOnce) }, (_, i) => {
    const some = wanted.slice(i * mostAtOnce, (i + 1) * mostAtOnce)
    const times = some.map(({ rejectedAt }) => rejectedAt.getTime())
    return {
      batches: some.map(({ batchId }) => batchId),
      indexes: some.map(({ index }) => index),
      since: new Date(Math.min(...times)),
      until: new Date(Math.max(...times) + 1),
    }
  })

/** ClickHouse writes times in UTC, and leaves out that they are. */
export const readTime = (text: string): Date => new Date(`${text.replace(' ', 'T')}Z`)
