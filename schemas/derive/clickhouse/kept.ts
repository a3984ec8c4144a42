import { createHash } from 'node:crypto'
import { type Catalogue, catalogue } from '../../catalogue.js'
import { marts } from '../../marts/all.js'
import { everything, type From, type Kept, type Mart, type MartParts } from '../../marts/mart.js'
import { purchaseColumns } from '../../marts/sources.js'
import { transaction } from '../../records/transaction.js'
import * as names from '../names.js'
import { type ClickHouseColumn, declared, exactColumns, literal, orgId, tableColumns } from './columns.js'
import type { Placement } from './placement.js'
import { createTable } from './table.js'

// A mart whose query takes seconds is kept as a table for large organisations. When records that it comes from have changed, the sink
// writes rows anew beside those that are shown, and then names them in `marts_kept`: from then on these are shown. What changes little
// by little is made anew in parts, a day or some customers; the records of a part are found in a table that is sorted by part, into which
// the sink copies what has come.

export type KeptMart = Mart & { kept: Kept }
export type MartInParts = Mart & { kept: Kept & { parts: MartParts } }

export const keptMarts: readonly KeptMart[] = marts.filter((mart): mart is KeptMart => mart.kept !== undefined)
export const isInParts = (mart: KeptMart): mart is MartInParts => mart.kept.parts !== undefined
export const martsInParts: readonly MartInParts[] = keptMarts.filter(isInParts)

const { database } = names
export const transactionsLog = names.logTableOf(transaction.type)
const part: ClickHouseColumn = { name: 'part', type: 'Int32', comment: 'the part that it belongs to' }
const version: ClickHouseColumn = { name: 'version', type: 'UInt64', comment: 'the version of the record' }

const generation: ClickHouseColumn = {
  name: 'generation',
  type: 'UInt64',
  comment: 'of rows that were made at once, and are shown together',
}

const keptAt: ClickHouseColumn = {
  name: 'kept_at',
  type: "DateTime64(6, 'UTC')",
  comment: 'when the rows began to be made',
}

const shownColumns: ClickHouseColumn[] = [
  orgId,
  { name: 'mart', type: 'LowCardinality(String)', comment: 'the mart' },
  { name: 'law', type: 'LowCardinality(String)', comment: 'stands for the query that made the rows' },
  part,
  generation,
  keptAt,
]

const changeColumns: ClickHouseColumn[] = [
  orgId,
  { name: 'type', type: 'LowCardinality(String)', comment: 'the type of the records' },
  { name: 'stored_at', type: "DateTime64(3, 'UTC')", comment: 'when they were written' },
  { name: 'since', type: "DateTime64(3, 'UTC')", comment: 'when the first of them was accepted' },
]

export const keptTables = ({ all }: Catalogue, placed: Placement): string[] => [
  ...createTable({
    ...{ table: names.shownTable, columns: shownColumns.map(declared), keeps: { newestBy: 'kept_at' }, placed },
    key: ['org_id', 'mart', 'law', 'part'],
    about: 'which rows of kept marts are shown: of each part those of its last generation',
  }),
  ...createTable({
    ...{ table: names.changesTable, columns: changeColumns.map(declared), keeps: 'all', placed },
    key: ['org_id', 'type', 'stored_at'],
    about: 'when records of an organisation and a type were written',
    until: 'toDateTime(stored_at) + interval 3 day',
  }),
  ...keptMarts.flatMap((mart) => keptTable(mart, placed)),
  ...[...all.keys()].map((type) => changesFeed(type, placed)),
  ...martsInParts.flatMap((mart) => sortedTable(mart, placed)),
]

/** What is asked for most is few of many rows: with the usual 8192, most of what is read for one customer or a shop's day belongs to others. */
export const keptGranularity = 2048

const keptTable = (mart: Mart, placed: Placement): string[] =>
  createTable({
    ...{ table: names.keptTableOf(mart.name), columns: keptColumns(mart).map(declared), keeps: 'all', placed },
    ...{ key: keptKey(mart), granularity: keptGranularity },
    about: `${mart.name}: kept for large organisations; the view ${mart.name} shows them`,
  })

/** The organisation, and the first columns of the mart that can be sorted by. */
export const keptKey = (mart: Mart): string[] => {
  const next = martColumns(mart).filter(({ name, type }) => name !== orgId.name && !/Nullable|Array/.test(type))
  return [orgId.name, ...next.slice(0, 2).map(({ name }) => name)]
}

export const martColumns = ({ columns }: Mart): ClickHouseColumn[] =>
  Object.entries(columns).map(([name, { type, about }]) => ({ name, type, comment: about }))

export const keptColumns = (mart: Mart): ClickHouseColumn[] => [...martColumns(mart), part, generation, keptAt]

const changesFeed = (type: string, { on, stored }: Placement): string =>
  `create materialized view if not exists ${database}.${names.changesFeedOf(type)}${on} to ${database}.${stored(names.changesTable)} as
select org_id, ${literal(type)} as type, now64(3, 'UTC') as stored_at, min(accepted_at) as since
from ${database}.${stored(names.logTableOf(type))}
group by org_id
comment ${literal(`notes in ${names.changesTable} what is written to ${names.logTableOf(type)}`)}`

const sortedColumns: ClickHouseColumn[] = [
  ...[...tableColumns(transaction), ...exactColumns(transaction)].filter(({ name }) => purchaseColumns.includes(name)),
  part,
  version,
  { name: 'is_gone', type: 'Bool', comment: 'whether it is deleted, or belongs to another part since' },
]

/** The newest version of each transaction, in its part. */
const sortedTable = ({ name }: MartInParts, placed: Placement): string[] =>
  createTable({
    ...{ table: names.sortedTableOf(name), keeps: { newestBy: 'version' }, placed },
    columns: sortedColumns.map(declared),
    key: ['org_id', 'part', 'transaction_id'],
    // A part has some thousand rows: with the usual 8192, most of what is read for one belongs to others.
    granularity: 1024,
    about: `transactions, sorted by the parts of ${name}; only its kept rows are made from it`,
  })

/** What a row of the log becomes in the sorted table. */
export const sortedSelect = ({ kept: { parts } }: MartInParts): string =>
  `${purchaseColumns.join(', ')}, ${parts.from.transactions} as part, version, ifNull(is_deleted, false) as is_gone`

/** Since when something has changed where everything may have. */
export const everSince = '1970-01-01 00:00:00.000'

/** Notes that every record of a type may have changed, also of organisations that no longer have one. */
export const allChanged = (type: string): string =>
  `insert into ${database}.${names.changesTable} (org_id, type, stored_at, since)
select org_id, ${literal(type)}, now64(3, 'UTC'), ${literal(everSince)}
from (
  select distinct org_id from ${database}.${names.logTableOf(type)}
  union distinct
  select org_id from ${database}.${names.shownTable}
)`

/** Rows that another Weir made with another query are not shown, nor those of a table that was made in another order since. */
export const lawOf = (mart: KeptMart): string =>
  createHash('sha256')
    .update(JSON.stringify([ofOrganisation(mart, ''), mart.kept, mart.columns, keptKey(mart), keptGranularity]))
    .digest('hex')
    .slice(0, 16)

/** Records that grow with what there is to buy, and not with every customer or purchase. */
export const few = new Set(
  [...catalogue.uploads.keys()]
    .filter((type) => !['customers', 'transactions', 'student-favourites'].includes(type))
    .map(names.viewOf),
)

/** Rows of a view of records, straight from its table: ClickHouse plans a query of a dozen views for longer than it runs. */
export const rowsOf = (name: string, where: string): string => {
  const type = [...catalogue.uploads.values()].find((each) => names.viewOf(each.type) === name)
  if (!type) return `(select * from ${everything(name)} where ${where})`
  const table = names.currentTableOf(type.type)
  // ClickHouse fills the exact columns itself, and leaves such out of the asterisk.
  const columns = ['*', ...exactColumns(type).map((column) => column.name)].join(', ')
  return `(select ${columns} from ${database}.${table} final where ${where} and not ifNull(is_deleted, false))`
}

/** Parts of a mart: these, or all between two of them, the first one included. */
export type SomeParts = readonly number[] | { from: number | undefined; below: number | undefined }

const isAmong = (part: string, some: SomeParts): string => {
  if (!('from' in some)) return `${part} in (${some.join(', ')})`
  const bounds = [
    some.from === undefined ? [] : `${part} >= ${some.from}`,
    some.below === undefined ? [] : `${part} < ${some.below}`,
  ]
  return bounds.flat().join(' and ') || 'true'
}

/** What a mart says about one organisation, from its records; from those of some parts only, where these are named. */
export const ofOrganisation = (mart: Mart, org: string, only?: SomeParts): string => {
  const { parts } = mart.kept ?? {}
  const partOf = new Map(Object.entries(parts?.from ?? {}).map(([type, by]) => [names.viewOf(type), by]))
  const own: From = (name) => {
    // A mart that is made anew in parts is never far behind; of another one the kept rows may be old, so it is asked for what it says now.
    const read = marts.find((each) => each.name === name)
    if (read && !read.kept?.parts) return `(${read.sql(own)})`
    const ofOrg = `org_id = ${literal(org)}`
    const by = partOf.get(name)
    if (only === undefined || by === undefined) return rowsOf(name, ofOrg)
    if (name === names.viewOf(transaction.type))
      return `(select * from ${database}.${names.sortedTableOf(mart.name)} final where ${ofOrg} and ${isAmong('part', only)} and not is_gone)`
    return rowsOf(name, `${ofOrg} and ${isAmong(by, only)}`)
  }
  return `select ${Object.keys(mart.columns).join(', ')} from (\n${mart.sql(own)}\n)`
}
