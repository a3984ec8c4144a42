import { everything, type Mart } from '../../marts/mart.js'
import { database } from '../names.js'
import { type ClickHouseColumn, declared, literal } from './columns.js'
import { keptQuery } from './kept.js'
import type { Placement } from './placement.js'

// This is the default, but a server may be configured otherwise, and then an analyst's row policies would not hold in views.
export const asReader = 'sql security invoker'

/** A view that is asked with values cannot declare its columns. */
export const createView = (
  view: string,
  columns: readonly ClickHouseColumn[] | undefined,
  query: string,
  about: string,
  { on }: Placement,
): string => {
  const listed = columns ? ` (\n${columns.map((column) => `  ${declared(column)}`).join(',\n')}\n)` : ''
  return `create or replace view ${database}.${view}${on}${listed} ${asReader} as\n${query}\ncomment ${literal(about)}`
}

/** A mart's view. */
export const martView = (mart: Mart, placed: Placement): string => {
  const { name, about, grain, columns, asked, kept } = mart
  const meaning = `${about} One row: ${grain}.`
  if (asked) return createView(name, undefined, mart.sql(everything), meaning, placed)
  const listed = Object.entries(columns).map(([column, { type, about }]) => ({ name: column, type, comment: about }))
  const query = kept ? keptQuery({ ...mart, kept }) : mart.sql(everything)
  return createView(name, listed, `select ${Object.keys(columns).join(', ')}\nfrom (\n${query}\n)`, meaning, placed)
}
