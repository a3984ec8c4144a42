import { catalogue } from '../../catalogue.js'
import type { From, Mart } from '../../marts/mart.js'
import { throughMark } from '../../marts/parts.js'
import * as names from '../names.js'
import { declared, literal } from './columns.js'
import { few, type KeptMart, lawOf, martColumns, rowsOf } from './kept.js'
import type { Placement } from './placement.js'

// What the view of a kept mart shows.

const { database } = names

/** The rows that are shown: kept ones, and of all organisations for which none are kept, those of this moment. */
export const keptQuery = (mart: KeptMart): string => {
  const columns = Object.keys(mart.columns).join(', ')
  const others = names.notKeptViewOf(mart.name)
  return `select ${columns}
from ${database}.${names.keptTableOf(mart.name)}
where generation in (select generation from ${shownOf(mart)} and org_id in (select org_id from ${freshOf(mart)}))
union all
select ${columns}
from ${database}.${names.notKeptIfAnyOf(mart.name)}
where _table in (
  select ${literal(others)} from ${database}.${leadingTableOf(mart)} where org_id not in (select org_id from ${freshOf(mart)}) limit 1
)`
}

const shownOf = (mart: KeptMart): string =>
  `${database}.${names.shownTable} final where mart = ${literal(mart.name)} and law = ${literal(lawOf(mart))}`

// For a day at the most: where nobody keeps them up any more, they are not shown for ever.
const freshOf = (mart: KeptMart): string =>
  `${shownOf(mart)} and part = ${throughMark} and kept_at > now() - interval 1 day`

/** An organisation without a row in this table has none in the mart. */
const leadingTableOf = ({ from: [type = ''] }: KeptMart): string => newestTableOf(type)

const newestTableOf = (type: string): string =>
  catalogue.uploads.has(type) ? names.currentTableOf(type) : names.logTableOf(type)

/**
 * The settings under which a mart's query reads the records of one organisation only. A condition on the mart does not reach both sides of every
 * join, nor the question whether an organisation without kept rows is there at all.
 */
export const ofOneOrganisation = ({ from }: Mart, org: string): Record<string, string> => {
  const filter = literal(`org_id = ${literal(org)}`)
  return {
    additional_table_filters: `{${from.map((type) => `${literal(`${database}.${newestTableOf(type)}`)}: ${filter}`).join(', ')}}`,
  }
}

/** The rows of all organisations for which none are kept. */
export const notKeptQuery = (mart: KeptMart): string => {
  const isOther = `org_id not in (select groupUniqArray(org_id) from ${freshOf(mart)})`
  // Planning takes 5 ms for each place where this stands, of 17 in a query of shops_overview: so only where large organisations have many rows.
  const others: From = (name) => rowsOf(name, few.has(name) ? 'true' : isOther)
  return `select ${Object.keys(mart.columns).join(', ')}
from (
${mart.sql(others)}
)
where ${isOther}`
}

/**
 * Behind a table of the engine Merge, ClickHouse plans a view only once the condition on `_table` has chosen it. Without this, each answer
 * from kept rows waited for the plan of the query over the records: up to 300 ms, though that query found nothing.
 */
export const notKeptIfAny = (mart: KeptMart, { on }: Placement): string =>
  `create or replace table ${database}.${names.notKeptIfAnyOf(mart.name)}${on} (
${martColumns(mart)
  .map((column) => `  ${declared(column)}`)
  .join(',\n')}
) engine = Merge(${literal(database)}, ${literal(`^${names.notKeptViewOf(mart.name)}$`)})
comment ${literal(`${names.notKeptViewOf(mart.name)}, for the view ${mart.name} to ask only where it may have a row`)}`
