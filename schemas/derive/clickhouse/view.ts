import { everything, type Mart } from '../../marts/mart.js'
import * as names from '../names.js'
import { type ClickHouseColumn, declared, literal } from './columns.js'
import { martColumns } from './kept.js'
import type { Placement } from './placement.js'
import { keptQuery, notKeptIfAny, notKeptQuery } from './showing.js'

const { database } = names

// This is the default, but a server may be configured otherwise, and then an analyst's row policies would not hold in views.
export const asReader = 'sql security invoker'

/** A view that is asked with values cannot declare its columns. */
export const createView = (
  view: string,
  columns: readonly ClickHouseColumn[] | undefined,
  query: string,
  about: string,
  { on }: Placement,
  { within = database, as = asReader } = {},
): string => {
  const listed = columns ? ` (\n${columns.map((column) => `  ${declared(column)}`).join(',\n')}\n)` : ''
  return `create or replace view ${within}.${view}${on}${listed} ${as} as\n${query}\ncomment ${literal(about)}`
}

/** A mart's view, and what it reads. */
export const martViews = (mart: Mart, placed: Placement): string[] => {
  const { name, about, grain, columns, asked, kept } = mart
  const meaning = `${about} One row: ${grain}.`
  if (asked) return [createView(name, undefined, mart.sql(everything), meaning, placed)]
  const shown = (query: string): string =>
    createView(
      name,
      martColumns(mart),
      `select ${Object.keys(columns).join(', ')}\nfrom (\n${query}\n)`,
      meaning,
      placed,
    )
  if (!kept) return [shown(mart.sql(everything))]
  const keptMart = { ...mart, kept }
  const others = `${name} of all organisations for which no rows are kept; the view ${name} shows them`
  return [
    createView(names.notKeptViewOf(name), martColumns(mart), notKeptQuery(keptMart), others, placed),
    notKeptIfAny(keptMart, placed),
    shown(keptQuery(keptMart)),
  ]
}
