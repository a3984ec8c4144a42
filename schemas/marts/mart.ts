/** One answer that analysts want, declared once, as data: its view, the rights to read it and its documentation are derived from this. */
export type Mart = {
  /** The view's name in the database. */
  name: string
  /** The question that it answers. */
  about: string
  /** What one row stands for. */
  grain: string
  /** The types of records that its figures come from. Where it is kept, an organisation without a record of the first has no row. */
  from: readonly string[]
  columns: Readonly<Record<string, MartColumn>>
  /** Where a row is about one person: the columns that say nothing personal by themselves. Masked analysts see no others of such a row. */
  impersonal?: readonly string[]
  /** The columns with texts that people write, which may say anything. Masked analysts do not see them. */
  written?: readonly string[]
  /** A condition, where masked analysts see only some of the rows. */
  maskedWhere?: string
  /** Set where the view is asked with values, as in `weir.segment_members(name = 'loyal', at = '2026-01-31')`: an example of each. */
  asked?: Readonly<Record<string, string>>
  /** The query: where it reads a view, a table of newest versions or another mart, it asks for that by its name. */
  sql: (from: From) => string
  /** Set where the query takes seconds in a large organisation: its answer is kept as a table there. */
  kept?: Kept
}

/** What is read under a name: the view itself, or a query in brackets that shows some of its rows. */
export type From = (name: string) => string

export const everything: From = (name) =>
  `weir.${name}${/_current$|^marts_kept$|^own_\w+_log$/.test(name) ? ' final' : ''}`

export type Kept = {
  /** Whether the figures change by the hour, also without any new record. */
  byClock?: boolean
  /** Marts that it is made from: it is made anew after they were. */
  reads?: readonly string[]
  /** Set where it is made anew in parts: only those that records have come to or gone from. */
  parts?: MartParts
}

/** How a mart falls into parts, which have whole numbers. */
export type MartParts = {
  /** The part of a row of the mart, by its columns. */
  of: string
  /** By type, the part of a record, by its columns. A record of another type may change all parts. */
  from: Readonly<Record<string, string>> & { transactions: string }
}

/** A column of a mart: its type in ClickHouse, and what it means. */
export type MartColumn = { type: string; about: string }

const column =
  (type: string) =>
  (about: string): MartColumn => ({ type, about })

export const org = column('LowCardinality(String)')('the organisation that uploaded the records')
export const id = column('UUID')
export const idOrNull = column('Nullable(UUID)')
export const ids = column('Array(UUID)')
export const text = column('String')
export const textOrNull = column('Nullable(String)')
export const texts = column('Array(String)')
export const word = column('LowCardinality(String)')
export const wordOrNull = column('LowCardinality(Nullable(String))')
export const flagOrNull = column('Nullable(Bool)')
export const day = column('Date32')
export const instant = column("DateTime64(3, 'UTC')")
export const instantOrNull = column("Nullable(DateTime64(3, 'UTC'))")
export const count = column('UInt64')
export const score = column('UInt8')
export const days = column('Int64')
/** An exact sum, in the unit that the organisation gives amounts in. */
export const money = column('Decimal(38, 9)')
/** Between 0 and 1; null where there is nothing to have a share of. */
export const share = column('Nullable(Float64)')
/** How many times as much; null where there is nothing to divide by. */
export const ratio = column('Nullable(Float64)')

/** The view as a query names it, with an example of each value that it is asked with. */
export const exampleOf = ({ name, asked }: Pick<Mart, 'name' | 'asked'>): string => {
  const values = Object.entries(asked ?? {}).map(([key, value]) => `${key} = '${value}'`)
  return asked ? `weir.${name}(${values.join(', ')})` : `weir.${name}`
}
