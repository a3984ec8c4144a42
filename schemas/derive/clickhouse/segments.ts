import { customersOverview } from '../../marts/customers.js'
import { everything } from '../../marts/mart.js'
import { customerSegments, segmentRules } from '../../marts/segments/named.js'
import * as names from '../names.js'
import { type ClickHouseColumn, declared, literal, orgId } from './columns.js'
import type { Placement } from './placement.js'
import { createTable } from './table.js'

// Own segments: their conditions, as "weir segments" and "weir provision" copy them from Postgres; who is in each, since when and until when,
// as the sink finds it once a day; and how many that were.

const { database } = names
const moment = "DateTime64(3, 'UTC')"

const segment: ClickHouseColumn = {
  name: 'segment',
  type: 'LowCardinality(String)',
  comment: 'the name of the segment',
}
const version: ClickHouseColumn = { name: 'version', type: 'UInt64', comment: 'how often its condition was set' }

const definitionColumns: ClickHouseColumn[] = [
  orgId,
  segment,
  version,
  { name: 'condition', type: 'String', comment: 'who is in it' },
  { name: 'about', type: 'String', comment: 'what it is for' },
  { name: 'created_at', type: moment, comment: 'when this condition was set' },
  { name: 'is_dropped', type: 'Bool', comment: 'whether the segment is dropped' },
  {
    name: 'noted_at',
    type: "DateTime64(6, 'UTC')",
    comment: 'when this row was written: of several the last one counts',
  },
]

const memberColumns: ClickHouseColumn[] = [
  orgId,
  segment,
  { name: 'customer_id', type: 'UUID', comment: 'the customer' },
  { name: 'since', type: moment, comment: 'when the customer was first found to be in it' },
  { name: 'until', type: moment, comment: 'when no longer; far in the future where the customer still is' },
]

const sizeColumns: ClickHouseColumn[] = [
  orgId,
  segment,
  version,
  { name: 'at', type: moment, comment: 'when its members were counted' },
  { name: 'members', type: 'UInt64', comment: 'how many they were' },
]

export const segmentTables = (placed: Placement): string[] => [
  ...createTable({
    ...{
      table: names.ownSegmentsTable,
      columns: definitionColumns.map(declared),
      keeps: { newestBy: 'noted_at' },
      placed,
    },
    key: ['org_id', 'segment', 'version'],
    about: 'own segments of organisations, every version of each; the view own_segments shows the last',
  }),
  ...createTable({
    ...{
      table: names.ownMembersTable,
      columns: [...memberColumns, leftFirst].map(declared),
      keeps: { newestBy: 'ended' },
      placed,
    },
    key: ['org_id', 'segment', 'customer_id', 'since'],
    about: 'who was in own segments, since when and until when; segment_members shows those of a moment',
  }),
  ...createTable({
    ...{ table: names.segmentSizesTable, columns: sizeColumns.map(declared), keeps: 'all', placed },
    key: ['org_id', 'segment', 'at'],
    about: 'how many customers were in each segment; the view segment_sizes shows them by day',
  }),
]

const leftFirst: ClickHouseColumn = {
  name: 'ended',
  type: 'UInt8',
  comment: '1 where the customer is no longer in it: of two rows with one beginning, this one counts',
}

export type SegmentToNote = OwnSegment & { about: string; createdAt: string }

/** Writes down versions of segments; of a version that is written again, the later row counts. */
export const noteSegmentsSql = (versions: readonly SegmentToNote[]): string =>
  `insert into ${database}.${names.ownSegmentsTable} (org_id, segment, version, condition, about, created_at, is_dropped, noted_at)
select each.1, each.2, each.3, each.4, each.5, ${asMoment('each.6')}, each.7, now64(6, 'UTC')
from (
  select arrayJoin([${versions
    .map(
      ({ org, segment: name, version: number, condition, about, createdAt, isDropped }) =>
        `(${[org, name].map(literal).join(', ')}, ${number}, ${[condition, about, createdAt].map(literal).join(', ')}, ${isDropped})`,
    )
    .join(', ')}]) as each
)`

const forever = '2200-01-01 00:00:00.000'

/** The customers of an organisation for whom a condition holds. */
export const membersSql = (org: string, condition: string): string =>
  `select customers.customer_id as customer_id
from (select * from ${everything(customersOverview.name)} where org_id = ${literal(org)}) as customers
left join (select * from ${everything(customerSegments.name)} where org_id = ${literal(org)}) as scores using (org_id, customer_id)
where (${condition})`

export type OwnSegment = { org: string; segment: string; version: number; condition: string; isDropped: boolean }

const ofSegment = ({ org, segment: name }: OwnSegment): string =>
  `org_id = ${literal(org)} and segment = ${literal(name)}`

/**
 * Notes who has come to a segment and who has left it, then how many are in it. When it stops in between and is done again, what was
 * noted is not noted twice: it compares with what is there.
 */
export const findMembersSql = (own: OwnSegment, at: string): string[] => [
  `insert into ${database}.${names.ownMembersTable} (org_id, segment, customer_id, since, until, ended)
select ${literal(own.org)}, ${literal(own.segment)}, customer_id,
  if(was_in, was_since, ${momentOf(at)}), if(was_in, ${momentOf(at)}, ${momentOf(forever)}), was_in
from (
  select customer_id, since as was_since, true as was_in
  from ${everything(names.ownMembersTable)}
  where ${ofSegment(own)} and until = ${momentOf(forever)}
) as was
full join (
  select customer_id, true as is_in
  from (${membersSql(own.org, own.isDropped ? 'false' : own.condition)})
) as found using (customer_id)
where was_in != is_in`,
  `insert into ${database}.${names.segmentSizesTable} (org_id, segment, version, at, members)
select ${literal(own.org)}, ${literal(own.segment)}, ${own.version}, ${momentOf(at)}, uniqExact(customer_id)
from ${everything(names.ownMembersTable)}
where ${ofSegment(own)} and until = ${momentOf(forever)}`,
]

const asMoment = (text: string): string => `toDateTime64(${text}, 3, 'UTC')`
const momentOf = (text: string): string => asMoment(literal(text))

/** Notes how many customers are in each of the segments that Weir names, of every organisation for which that was not noted today. */
export const countNamedSql = `insert into ${database}.${names.segmentSizesTable} (org_id, segment, version, at, members)
select org_id, each.1, 0, now64(3, 'UTC'), each.2
from (
  select org_id, [${segmentRules.map(({ segment: name }) => `(${literal(name)}, countIf(segment = ${literal(name)}))`).join(', ')}] as sizes
  from ${everything(customerSegments.name)}
  where org_id not in (
    select groupUniqArray(org_id) from ${database}.${names.segmentSizesTable} where version = 0 and toDate(at) = toDate(now('UTC'))
  )
  group by org_id
)
array join sizes as each`

/** Own segments that have not been looked at today, or not since they were changed; the longest overdue first. */
export const dueSegmentsSql = `select org_id as org, segment, toFloat64(newest.1) as version, newest.2 as condition, newest.3 as isDropped
from (
  select org_id, segment, argMax((version, condition, is_dropped), version) as newest
  from ${everything(names.ownSegmentsTable)}
  group by org_id, segment
) as defined
left join (
  select org_id, segment, argMax((sizes.version, toDate(sizes.at), sizes.members), sizes.at) as last
  from ${database}.${names.segmentSizesTable} as sizes
  where sizes.version > 0
  group by org_id, segment
) as counted using (org_id, segment)
where if(newest.3, last.3 > 0, last.1 != newest.1 or last.2 < toDate(now('UTC')))
order by last.2, org_id, segment
limit 1000`
