import { rejectionName } from '#ledger/retries/claims.js'
import { database, rejectionsLog } from '#schemas/derive/names.js'
import { type Filter, whereOf } from './filter.js'
import { type Reader, type Rejection, readTime } from './find-rejections.js'

/** Rejections of one type with the same code in the same field: how many, since when and until when, and the newest of them. */
export type RejectionGroup = {
  type: string
  code: string
  field: string | null
  count: number
  firstSeen: Date
  lastSeen: Date
  /** Undefined where it was pruned just now. */
  sample: GroupSample | undefined
}
/** A rejection with its record, or with the beginning of a long one. */
export type GroupSample = Pick<Rejection, 'batchId' | 'index' | 'id' | 'problems' | 'record' | 'truncated'>

type GroupRow = Omit<RejectionGroup, 'firstSeen' | 'lastSeen' | 'sample'> & {
  firstSeen: string
  lastSeen: string
  newest: [batchId: string, index: number]
}

/** The largest `most` groups of an organisation. A rejection with several problems counts in the group of each, once. */
export const findGroups = async (
  clickhouse: Reader,
  filter: Filter & { org: string },
  most: number,
): Promise<RejectionGroup[]> => {
  const { where, values, settings } = whereOf(filter)
  // Of a rejection with several problems only those are meant that the filter names.
  const chosen = [
    ...(filter.code === undefined ? [] : ['problem.1 = {code:String}']),
    ...(filter.field === undefined ? [] : ['problem.2 = {field:String}']),
  ]
  const groups = await clickhouse.query<GroupRow>(
    `select type, problem.1 as code, problem.2 as field, toUInt32(count()) as count,
      min(rejected_at) as firstSeen, max(rejected_at) as lastSeen, argMax((batch_id, index), place) as newest
    from (
      select type, rejected_at, batch_id, index, (rejected_at, batch_id, index) as place,
        arrayJoin(arrayDistinct(arrayZip(problems.code, problems.field))) as problem
      from ${database}.${rejectionsLog} final
      where ${where}
    )
    where ${chosen.join(' and ') || 'true'}
    group by type, code, field
    order by count desc, type, code, field
    limit {most:UInt32}`,
    { ...values, most },
    settings,
  )
  const samples = await findSamples(clickhouse, filter.org, groups)
  return groups.map(({ newest, ...group }) => ({
    ...group,
    firstSeen: readTime(group.firstSeen),
    lastSeen: readTime(group.lastSeen),
    sample: samples.get(nameOf(newest)),
  }))
}

const nameOf = ([batchId, index]: GroupRow['newest']): string => rejectionName({ batchId, index })

type SampleRow = Omit<GroupSample, 'record' | 'truncated'> & { sampled: string; is_cut: number }

// Many groups, each with a record of 64 KiB, would be of no use to a reader.
const mostSampled = 4096

/** The rejections that stand for the groups. A problem's message differs from one to the next, so each is shown with its own. */
const findSamples = async (
  clickhouse: Reader,
  org: string,
  groups: readonly GroupRow[],
): Promise<Map<string, GroupSample>> => {
  if (groups.length === 0) return new Map()
  const rows = await clickhouse.query<SampleRow>(
    `select batch_id as batchId, index, id, problems, length(record) > ${mostSampled} as is_long,
      if(is_long, substringUTF8(record, 1, ${mostSampled}), record) as sampled, truncated or is_long as is_cut
    from ${database}.${rejectionsLog} final
    where org_id = {org:String} and (rejected_at, batch_id, index) in (
      select fromUnixTimestamp64Milli(place.1, 'UTC'), place.2, place.3
      from (select arrayJoin(arrayZip({times:Array(Int64)}, {batches:Array(UUID)}, {indexes:Array(UInt32)})) as place)
    )`,
    {
      org,
      times: groups.map(({ lastSeen }) => readTime(lastSeen).getTime()),
      batches: groups.map(({ newest: [batchId] }) => batchId),
      indexes: groups.map(({ newest: [, index] }) => index),
    },
  )
  return new Map(
    rows.map(({ sampled, is_cut, ...one }) => [
      rejectionName(one),
      { ...one, record: sampled, truncated: Boolean(is_cut) },
    ]),
  )
}
