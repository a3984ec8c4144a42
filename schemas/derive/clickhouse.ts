import type { Catalogue } from '../catalogue.js'
import { marts } from '../marts/all.js'
import { maskOfColumn, masksOfMart } from '../persons/masks.js'
import { hasVersions, type RecordType } from '../record.js'
import { mostRecordsInBatch } from '../version.js'
import {
  type ClickHouseColumn,
  declared,
  declaredFilled,
  exactColumns,
  historyColumns,
  listOf,
  literal,
  orgId,
  origin,
  quote,
  tableColumns,
  viewColumns,
} from './clickhouse/columns.js'
import { keptTables, martColumns } from './clickhouse/kept.js'
import { type Maskable, type MaskedColumn, maskedViews, saltsTable } from './clickhouse/masked.js'
import { oneServer, type Placement } from './clickhouse/placement.js'
import { segmentTables } from './clickhouse/segments.js'
import { createTable } from './clickhouse/table.js'
import { createView, martViews } from './clickhouse/view.js'

import * as names from './names.js'

const { database } = names

/** The statements that make all tables and views; each may be run again. */
export const clickhouseSql = (catalogue: Catalogue, placed = oneServer): string[] => [
  ...tablesSql(catalogue, placed),
  ...viewsSql(catalogue, placed),
]

/** The tables come first: before the views show what is in new ones, analysts need the right to read them. */
export const tablesSql = (catalogue: Catalogue, placed = oneServer): string[] => [
  `create database if not exists ${database}${placed.on}`,
  ...[...catalogue.all.values()].flatMap((type) => [
    ...logTable(type, placed),
    ...laterColumns(type, names.logTableOf(type.type), aboutLog(type), placed),
    ...(hasVersions(type) ? currentSql(type, placed) : []),
  ]),
  ...rejectionsTable(placed),
  ...alterTable(names.rejectionsLog, meanings(rejectionColumns, aboutRejections), placed),
  ...waitingTable(placed),
  ...alterTable(names.waitingLog, meanings([...waitingColumns, ...waitingChange], aboutWaits), placed),
  ...keptTables(catalogue, placed),
  ...segmentTables(placed),
  ...saltsTable(placed),
]

/** All types count in the view of the quality, those too whose own views are left as they are. */
export const viewsSql = (catalogue: Catalogue, placed = oneServer, { all } = catalogue): string[] => [
  ...[...catalogue.all.values()].flatMap((type) => [
    currentView(type, placed),
    ...(hasVersions(type) ? [historyView(type, placed), asOfView(type, placed)] : []),
  ]),
  rejectionsSql(placed),
  waitingSql(placed),
  qualitySql([...all.values()], placed),
  ...marts.flatMap((mart) => martViews(mart, placed)),
  ...maskedViews(maskableViews(catalogue), placed),
]

/** All views that the docs tell analysts of: each has a masked one beside it. */
const maskableViews = (catalogue: Catalogue): Maskable[] => [
  ...[...catalogue.all.values()].flatMap((type) => {
    const maskable = (view: string, columns: readonly ClickHouseColumn[], asked?: string[]): Maskable => ({
      ...{
        view,
        about: type.about,
        columns: columns.map((each) => ({ ...each, mask: maskOfColumn(type, each.name) })),
      },
      ...(asked && { asked }),
      ...(maskOfColumn(type, type.id) !== 'shown' && { sortedBy: type.id }),
    })
    return [
      maskable(names.viewOf(type.type), viewColumns(type)),
      ...(hasVersions(type)
        ? [
            maskable(names.historyViewOf(type.type), historyColumns(type)),
            maskable(names.asOfViewOf(type.type), viewColumns(type), ['at']),
          ]
        : []),
    ]
  }),
  { view: names.rejectionsView, about: 'refused records, without what was sent', columns: maskedRejection },
  { view: names.waitingView, about: 'records that wait, without their ids', columns: maskedWaiting },
  { view: names.qualityView, about: aboutQuality, columns: qualityColumns.map(asShown) },
  ...marts.map((mart): Maskable => {
    const masks = masksOfMart(mart)
    return {
      ...{ view: mart.name, about: `${mart.about} One row: ${mart.grain}.` },
      columns: martColumns(mart).map((column) => ({ ...column, mask: masks[column.name] ?? 'hidden' })),
      ...(mart.asked && { asked: Object.keys(mart.asked) }),
      ...(mart.maskedWhere && { where: mart.maskedWhere }),
      sortedBy: Object.keys(masks).find((name) => masks[name] === 'customer' || masks[name] === 'user'),
    }
  }),
]
const asShown = (column: ClickHouseColumn): MaskedColumn => ({ ...column, mask: 'shown' })

/** The table that the sink writes: each version of each record once. A rebuild makes it under another name first. */
export const logTable = (type: RecordType, placed = oneServer, table = names.logTableOf(type.type)): string[] =>
  createTable({
    ...{ table, columns: declaredOf(type), about: aboutLog(type), placed },
    ...(hasVersions(type)
      ? { keeps: 'one', key: ['org_id', type.id, 'version'] }
      : { keeps: newest, key: sortingKey(type) }),
  })

/** The table with the newest version of each record, a deleted one too. It is fed from the log alone. */
export const currentTable = (type: RecordType, placed = oneServer, table = names.currentTableOf(type.type)): string[] =>
  createTable({
    ...{ table, columns: declaredOf(type), about: aboutCurrent(type), placed },
    ...{ keeps: newest, key: ['org_id', type.id] },
  })

/** What is written to the log goes to the table of the newest versions in the same insert. */
export const currentFeed = (
  type: RecordType,
  placed = oneServer,
  { feed, log, current } = feedNamesOf(type, placed),
): string =>
  `create materialized view if not exists ${database}.${feed}${placed.on} to ${database}.${current} as\n${feedQuery(type, log)}\ncomment ${literal(aboutFeed(type))}`

const feedNamesOf = ({ type }: RecordType, { stored }: Placement) => ({
  feed: names.currentFeedOf(type),
  log: stored(names.logTableOf(type)),
  current: stored(names.currentTableOf(type)),
})

const currentSql = (type: RecordType, placed: Placement): string[] => {
  const { feed, log } = feedNamesOf(type, placed)
  return [
    ...currentTable(type, placed),
    ...laterColumns(type, names.currentTableOf(type.type), aboutCurrent(type), placed),
    currentFeed(type, placed),
    // The feed of an older Weir does not know a field that came later.
    `alter table ${database}.${feed}${placed.on} modify query\n${feedQuery(type, log)}`,
    `alter table ${database}.${feed}${placed.on} modify comment ${literal(aboutFeed(type))}`,
    // An older Weir had only the log, and knew no cluster. Its rows are taken over once: as long as the view does not read from
    // the new table.
    ...(placed === oneServer ? [takeOver(type)] : []),
  ]
}

const takeOver = (type: RecordType, { log, current } = feedNamesOf(type, oneServer)): string =>
  `insert into ${database}.${current} (${listOf(tableColumns(type))})
select ${listOf(tableColumns(type))}
from ${database}.${log} final
where (select count() from system.tables where database = ${literal(database)} and name = ${literal(names.viewOf(type.type))}
  and position(as_select, ${literal(current)}) > 0) = 0`

const feedQuery = (type: RecordType, log: string): string =>
  `select ${listOf(tableColumns(type))}\nfrom ${database}.${log}`

/** The columns of fields that came into the catalogue after the table was made, and what each column means now. */
const laterColumns = (type: RecordType, table: string, about: string, placed: Placement): string[] =>
  alterTable(
    table,
    [
      ...declaredOf(type).map((column) => `add column if not exists ${column}`),
      ...meanings([...tableColumns(type), ...exactColumns(type)], about),
    ],
    placed,
  )

const alterTable = (table: string, changes: readonly string[], { namesOf, on }: Placement): string[] =>
  namesOf(table).map(
    (name) => `alter table ${database}.${name}${on}\n${changes.map((change) => `  ${change}`).join(',\n')}`,
  )

const meanings = (columns: readonly ClickHouseColumn[], about: string): string[] => [
  ...columns.map(({ name, comment }) => `comment column ${quote(name)} ${literal(comment)}`),
  `modify comment ${literal(about)}`,
]

// What `show tables` and a catalogue of data tell of each table and view.
const aboutLog = ({ type, about }: RecordType): string => `${type}: every version of every record, once. ${about}`
const aboutCurrent = ({ type }: RecordType): string =>
  `${type}: the newest version of each record, deleted ones too; the view ${names.viewOf(type)} shows those that are not`
const aboutFeed = ({ type }: RecordType): string =>
  `copies what is written to ${names.logTableOf(type)} to ${names.currentTableOf(type)}`

/** The view of what is true now: one row for each id, without deleted records. */
export const currentView = (type: RecordType, placed = oneServer): string => {
  const columns = viewColumns(type)
  return createView(
    names.viewOf(type.type),
    columns,
    `select ${expressionsOf(columns)}\nfrom ${database}.${stateTableOf(type)} as log final${whereAlive(type)}`,
    type.about,
    placed,
  )
}

/** The table whose highest version of a record is the record's state. */
export const stateTableOf = (type: RecordType): string =>
  hasVersions(type) ? names.currentTableOf(type.type) : names.logTableOf(type.type)

const historyView = (type: RecordType, placed: Placement): string => {
  const columns = historyColumns(type)
  const nextVersion = `(partition by org_id, ${quote(type.id)} order by version rows between current row and unbounded following)`
  const expressions = {
    valid_from: 'accepted_at as valid_from',
    valid_to: `leadInFrame(toNullable(accepted_at)) over ${nextVersion} as valid_to`,
  }
  return createView(
    names.historyViewOf(type.type),
    columns,
    `select ${expressionsOf(columns, expressions)}
from ${database}.${names.logTableOf(type.type)} as log final`,
    `${type.type}: every version of every record, with the time in which it was valid. ${type.about}`,
    placed,
  )
}

/** What the type's view showed at an earlier moment. Read from the table's end, so a record's first row is its newest by then. */
const asOfView = (type: RecordType, placed: Placement): string => {
  const columns = viewColumns(type)
  const id = quote(type.id)
  const view = names.asOfViewOf(type.type)
  return createView(
    view,
    undefined,
    `select ${expressionsOf(columns)}
from (
  select ${listOf(columns)}
  from ${database}.${names.logTableOf(type.type)}
  where accepted_at <= parseDateTime64BestEffort({at:String}, 3, 'UTC')
  order by org_id desc, ${id} desc, version desc
  limit 1 by org_id, ${id}
) as log${whereAlive(type)}`,
    `${type.type} as they were at a moment: weir.${view}(at = '2026-01-31 12:00:00')`,
    placed,
  )
}

// Asked of the table, `log`: a view's own column of that name is never null.
const isDeleted = 'ifNull(log.is_deleted, false)'
const whereAlive = (type: RecordType): string => (type.fields.is_deleted ? `\nwhere not ${isDeleted}` : '')

/** What a view selects for its columns. */
const expressionsOf = (columns: readonly ClickHouseColumn[], others: Readonly<Record<string, string>> = {}): string =>
  columns
    .map(({ name }) => (name === 'is_deleted' ? `${isDeleted} as is_deleted` : (others[name] ?? quote(name))))
    .join(', ')

const newest = { newestBy: 'version' }

/** The columns of a type's tables, as they are declared. */
const declaredOf = (type: RecordType): string[] => [
  ...tableColumns(type).map(declared),
  ...exactColumns(type).map(declaredFilled),
]

// Interactions are read newest first, so their time stands before the id; it may, because it never changes.
const sortingKey = (type: RecordType): string[] => {
  const moments = Object.entries(type.fields).flatMap(([name, field]) => (field.kind === 'moment' ? [name] : []))
  return ['org_id', ...moments, type.id]
}

const rejectionColumns: ClickHouseColumn[] = [
  orgId,
  ...origin,
  { name: 'rejected_at', type: "DateTime64(3, 'UTC')", comment: 'when it was refused' },
  { name: 'version', type: 'UInt64', comment: 'its place in the log' },
  { name: 'type', type: 'LowCardinality(String)', comment: 'the type of the record' },
  { name: 'index', type: 'UInt32', comment: 'its place in the request' },
  { name: 'id', type: 'Nullable(String)', comment: 'what was given as its id' },
  {
    name: 'problems',
    type: 'Array(Tuple(field Nullable(String), code String, message String))',
    comment: 'what is wrong with it; the field is null where it is the record as a whole',
  },
  { name: 'record', type: 'String', comment: 'the record as it was sent, in JSON; at most 64 KiB of it' },
  { name: 'truncated', type: 'Bool', comment: 'whether the record was too large to be kept whole' },
]
const aboutRejections = 'refused records, each once; the view rejections shows them'

export const rejectionsTable = (placed = oneServer, table = names.rejectionsLog): string[] =>
  createTable({
    ...{ table, columns: rejectionColumns.map(declared), about: aboutRejections, placed },
    ...{ keeps: newest, key: ['org_id', 'rejected_at', 'batch_id', quote('index')] },
  })

const shownRejection = rejectionColumns.filter(({ name }) => name !== 'version')
// The names of fields and the sentences may quote what was sent.
const codesAlone = `cast(arrayMap(each -> (null, each.code, ''), shown.problems), 'Array(Tuple(field Nullable(String), code String, message String))')`
const openOfRejections = new Set(['org_id', 'request_id', 'batch_id', 'rejected_at', 'type', 'index', 'truncated'])
const maskedRejection: MaskedColumn[] = shownRejection.map((column) => ({
  ...column,
  mask: column.name === 'problems' ? { as: codesAlone } : openOfRejections.has(column.name) ? 'shown' : 'hidden',
}))

const rejectionsSql = (placed: Placement): string =>
  createView(
    names.rejectionsView,
    shownRejection,
    `select ${listOf(shownRejection)}\nfrom ${database}.${names.rejectionsLog} final`,
    'refused records: what was sent, and what is wrong with it',
    placed,
  )

/** Each record that waits or waited, once: of its changes the last one counts. */
export const waitingTable = (placed = oneServer, table = names.waitingLog): string[] =>
  createTable({
    ...{ table, columns: [...waitingColumns, ...waitingChange].map(declared), about: aboutWaits, placed },
    ...{ keeps: newest, key: ['org_id', 'type', 'batch_id', quote('index')] },
  })

const waitingColumns: ClickHouseColumn[] = [
  orgId,
  { name: 'type', type: 'LowCardinality(String)', comment: 'the type of the record that waits' },
  { name: 'id', type: 'UUID', comment: 'the id of the record that waits' },
  {
    name: 'missing',
    type: 'Array(Tuple(field String, type String, id UUID))',
    comment: 'the records that it waits for: the field that refers to each, its type and its id',
  },
  { name: 'since', type: "DateTime64(3, 'UTC')", comment: 'when it began to wait' },
  { name: 'until', type: "DateTime64(3, 'UTC')", comment: 'when it is refused if something is still missing' },
  ...origin,
  { name: 'index', type: 'UInt32', comment: 'its place in the request; of an interaction, its place in the batch' },
]

const openOfWaits = new Set(['org_id', 'type', 'since', 'until', 'request_id', 'batch_id', 'index'])
const maskedWaiting: MaskedColumn[] = waitingColumns.map((column) => ({
  ...column,
  mask: openOfWaits.has(column.name) ? 'shown' : 'hidden',
}))

const waitingChange: ClickHouseColumn[] = [
  { name: 'state', type: 'LowCardinality(String)', comment: 'waiting, accepted, refused, superseded or cancelled' },
  { name: 'changed_at', type: "DateTime64(3, 'UTC')", comment: 'since when it is in this state' },
  { name: 'version', type: 'UInt64', comment: 'grows with each change' },
]

const aboutWaits =
  'records that wait or waited for what they refer to, with what came of it; the view waiting shows those that wait'

const waitingSql = (placed: Placement): string =>
  createView(
    names.waitingView,
    waitingColumns,
    `select ${listOf(waitingColumns)}\nfrom ${database}.${names.waitingLog} final\nwhere state = 'waiting'`,
    'records that wait for what they refer to',
    placed,
  )

// What was received, accepted and refused, of each organisation, type and day (UTC). Every accepted version counts, as every
// refusal does: they are what came in. A row that was written twice counts once. A record that waits counts on the day on which
// it came; once that has ended, it counts on the day of its end instead, as what became of it: so each record that came in
// counts once, at any time.
const qualitySql = (types: readonly RecordType[], placed: Placement): string =>
  createView(
    names.qualityView,
    qualityColumns,
    `select org_id, type, day, sum(n_accepted) + sum(n_refused) + sum(n_waiting) + sum(n_undecided) as received,
  sum(n_accepted) as accepted, sum(n_refused) as refused,
  arraySlice(arraySort(pair -> (-pair.2, pair.1), arrayZip(mapKeys(sumMap(n_codes)), mapValues(sumMap(n_codes)))), 1, 5) as top_codes,
  max(last) as last_accepted_at, sum(n_waiting) as waiting, sum(n_undecided) as undecided
from (
${[...types.map(acceptedSql), refusedSql, unfinishedSql].join('\nunion all\n')}
)
group by org_id, type, day`,
    aboutQuality,
    placed,
  )

const aboutQuality = 'what came in, by organisation, type and day: accepted, refused, waiting'
const count = (name: string, comment: string): ClickHouseColumn => ({ name, type: 'UInt64', comment })
const qualityColumns: ClickHouseColumn[] = [
  { ...orgId, comment: 'the organisation that uploaded them' },
  { name: 'type', type: 'LowCardinality(String)', comment: 'the type of the records' },
  {
    name: 'day',
    type: 'Date',
    comment: 'the day on which they were decided, in UTC; of those that wait, the day on which they came',
  },
  count('received', 'records that came in: accepted, refused, waiting and undecided'),
  count('accepted', 'records that were accepted, each version of a record for itself'),
  count('refused', 'records that were refused; for as long as rejections are kept'),
  {
    name: 'top_codes',
    type: 'Array(Tuple(code String, count UInt64))',
    comment: 'the commonest problems: how many refused records have one with this code',
  },
  {
    name: 'last_accepted_at',
    type: "Nullable(DateTime64(3, 'UTC'))",
    comment: 'when the last one of that day was accepted',
  },
  count('waiting', 'records that came on that day and still wait for a record that they refer to'),
  count(
    'undecided',
    'records whose waiting ended on that day without a decision: a newer one of their id came, or somebody cancelled it',
  ),
]

// The rows of a batch are kept apart by their places in the log: by the message, which is another one for a record that waited, and
// the place in it. Counted so, without `final`, 5 million rows took 1.7 s on two cores where `final` took 3, and one day of them
// 0.1 s instead of 0.4.
const acceptedSql = ({ type }: RecordType): string =>
  `select org_id, ${literal(type)} as type, day, sum(n) as n_accepted, toUInt64(0) as n_refused, ${noCodes} as n_codes, max(last) as last, ${noneWaiting}
from (
  select org_id, toDate(accepted_at) as day, batch_id, groupBitmap(toUInt16(version % ${mostRecordsInBatch})) as n, max(toNullable(accepted_at)) as last
  from ${database}.${names.logTableOf(type)}
  group by org_id, day, batch_id, intDiv(version, ${mostRecordsInBatch})
)
group by org_id, day`

const noCodes = `cast(map(), 'Map(String, UInt64)')`
const neverAccepted = `cast(null as Nullable(DateTime64(3, 'UTC'))) as last`
const noneWaiting = 'toUInt64(0) as n_waiting, toUInt64(0) as n_undecided'

// A message that was unreadable belongs to no organisation.
const refusedSql = `select org_id, type, toDate(rejected_at) as day, toUInt64(0) as n_accepted, count() as n_refused,
  sumMap(mapFromArrays(arrayDistinct(problems.code), arrayMap(code -> toUInt64(1), arrayDistinct(problems.code)))) as n_codes,
  ${neverAccepted}, ${noneWaiting}
from ${database}.${names.rejectionsLog} final
where org_id != ''
group by org_id, type, day`

const unfinishedSql = `select org_id, type, toDate(if(state = 'waiting', since, changed_at)) as day, toUInt64(0) as n_accepted,
  toUInt64(0) as n_refused, ${noCodes} as n_codes, ${neverAccepted}, countIf(state = 'waiting') as n_waiting, countIf(state != 'waiting') as n_undecided
from ${database}.${names.waitingLog} final
where state in ('waiting', 'superseded', 'cancelled')
group by org_id, type, day`
