import type { Catalogue } from '../../catalogue.js'
import { throughMark, wholeMark } from '../../marts/parts.js'
import { purchaseColumns } from '../../marts/sources.js'
import * as names from '../names.js'
import { literal } from './columns.js'
import {
  type KeptMart,
  lawOf,
  type MartInParts,
  ofOrganisation,
  type SomeParts,
  sortedSelect,
  transactionsLog,
} from './kept.js'
import type { Placement } from './placement.js'

// The statements with which the rows of kept marts are made anew.

const { database } = names

// One thread each: analysts and the sink need ClickHouse, too. With two, a machine of two cores stored a sixth fewer transactions while
// the marts of their organisation were made anew.
const besideOthers = `settings max_threads = 1, max_bytes_before_external_group_by = 2000000000, max_bytes_before_external_sort = 2000000000`

const partOf = ({ kept: { parts } }: KeptMart): string => parts?.of ?? 'toInt32(0)'

/** Rows of one making have one number in each part, and no others have it. */
const generationOf = (at: string): string => `cityHash64(part, ${literal(at)})`

/** Makes an organisation's rows anew: of these parts, or all. They are not shown yet. */
export const keepSql = (mart: KeptMart, org: string, at: string, only?: SomeParts): string => {
  const columns = Object.keys(mart.columns).join(', ')
  return `insert into ${database}.${names.keptTableOf(mart.name)} (${columns}, part, generation, kept_at)
select ${columns}, ${partOf(mart)} as part, ${generationOf(at)} as generation, ${literal(at)} as kept_at
from (${ofOrganisation(mart, org, only)})
${besideOthers}`
}

/** Shows what was made of these parts, also where nothing is left of one. */
export const showPartsSql = (mart: KeptMart, org: string, at: string, only: readonly number[]): string =>
  showSql(mart, org, at, `select toInt32(arrayJoin([${[...only, throughMark].join(', ')}])) as part`)

/** Shows what was made of all parts, also of those that are no longer there. */
export const showAllSql = (mart: KeptMart, org: string, at: string): string =>
  showSql(
    mart,
    org,
    at,
    `select distinct part from ${database}.${names.keptTableOf(mart.name)} where org_id = ${literal(org)}
  union distinct
  select part from ${database}.${names.shownTable} where ${ofMart(mart, org)}
  union distinct
  select toInt32(arrayJoin([${throughMark}, ${wholeMark}])) as part`,
  )

const showSql = (mart: KeptMart, org: string, at: string, parts: string): string =>
  `insert into ${database}.${names.shownTable} (org_id, mart, law, part, generation, kept_at)
select ${literal(org)}, ${literal(mart.name)}, ${literal(lawOf(mart))}, part, ${generationOf(at)}, ${literal(at)}
from (
  ${parts}
)`

const ofMart = (mart: KeptMart, org: string): string =>
  `org_id = ${literal(org)} and mart = ${literal(mart.name)} and law = ${literal(lawOf(mart))}`

/** Makes the sorted transactions of an organisation anew, from its log. */
export const sortAgainSql = (mart: MartInParts, org: string, { on, stored }: Placement): string[] => [
  `delete from ${database}.${stored(names.sortedTableOf(mart.name))}${on} where org_id = ${literal(org)}`,
  ...sortSql(mart, org),
]

// Half the hash tables of one making stay in the processor's caches, and all of them take an eighth of the memory.
const slices = 8

/** The parts of an organisation by which its transactions fall into slices of about the same size. */
export const boundsSql = (mart: MartInParts, org: string): string => {
  const levels = Array.from({ length: slices - 1 }, (_, n) => (n + 1) / slices).join(', ')
  return `select arrayDistinct(quantilesExact(${levels})(part)) as bounds
from ${database}.${names.sortedTableOf(mart.name)}
where org_id = ${literal(org)}
${besideOthers}`
}

/** Sorts an organisation's transactions into their parts: all, or those that were accepted since. */
export const sortSql = (mart: MartInParts, org: string, since?: string): string[] => [
  `insert into ${database}.${names.sortedTableOf(mart.name)} (${purchaseColumns.join(', ')}, part, version, is_gone)
select ${sortedSelect(mart)}
from ${database}.${transactionsLog}
where org_id = ${literal(org)}${since === undefined ? '' : ` and accepted_at >= ${literal(since)}`}
${besideOthers}`,
  goneSql(mart, org, since),
]

/** Takes them out of the parts that they no longer belong to. */
const goneSql = (mart: MartInParts, org: string, since?: string): string =>
  `insert into ${database}.${names.sortedTableOf(mart.name)} (org_id, transaction_id, part, version, is_gone)
select org_id, transaction_id, arrayJoin(arrayFilter(each -> each != now_in, parts)) as part, newest, true
from (
  select org_id, transaction_id, groupUniqArray(in_part) as parts, argMax(in_part, version) as now_in, max(version) as newest
  from (
    select org_id, transaction_id, version, ${mart.kept.parts.from.transactions} as in_part
    from ${database}.${transactionsLog}
    where org_id = ${literal(org)}${since === undefined ? '' : ` and transaction_id in (${changedIds(transactionsLog, 'transaction_id', org, since)})`}
  )
  group by org_id, transaction_id
  having length(parts) > 1
)
${besideOthers}`

const changedIds = (log: string, id: string, org: string, since: string): string =>
  `select ${id} from ${database}.${log} where org_id = ${literal(org)} and accepted_at >= ${literal(since)}`

/** The parts that records of a type have come to or gone from, of those that were accepted since. */
export const touchedSql = (
  mart: MartInParts,
  catalogue: Catalogue,
  type: string,
  org: string,
  since: string,
): string => {
  const log = names.logTableOf(type)
  const id = catalogue.all.get(type)?.id ?? ''
  return `select distinct ${mart.kept.parts.from[type]} as part
from ${database}.${log}
where org_id = ${literal(org)} and ${id} in (${changedIds(log, id, org, since)})
${besideOthers}`
}

// What another Weir shows, which may run beside this one for a while, stays for as long.
const isShown = (mart: KeptMart): string =>
  `mart = ${literal(mart.name)} and (law = ${literal(lawOf(mart))} or kept_at > now() - interval 2 day)`

/** Removes rows that are no longer shown, once no query that began before can still read them. */
export const forgetSql = (mart: KeptMart, { on, stored }: Placement): string =>
  `delete from ${database}.${stored(names.keptTableOf(mart.name))}${on}
where kept_at < now() - interval 1 hour
  and generation not in (select generation from ${database}.${names.shownTable} final where ${isShown(mart)})`
