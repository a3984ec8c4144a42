import type { Catalogue } from '../catalogue.js'
import type { Field } from '../field.js'
import { columnsOf, type RecordType } from '../record.js'
import { database, logTableOf, rejectionsLog, rejectionsView, viewOf } from './names.js'

/** The statements that make all tables and views; each may be run again. */
export const clickhouseSql = (catalogue: Catalogue): string[] => [
  `create database if not exists ${database}`,
  ...[...catalogue.all.values()].flatMap((type) => [logTable(type), laterColumns(type), currentView(type)]),
  rejectionsTable(),
  `create or replace view ${database}.${rejectionsView} ${asReader} as\nselect * except (version)\nfrom ${database}.${rejectionsLog} final`,
]

// This is the default, but a server may be configured otherwise, and then an analyst's row policies would not hold in views.
const asReader = 'sql security invoker'

/** The table with every accepted version, until a merge keeps the highest. A rebuild makes it under another name first. */
export const logTable = (type: RecordType, table = logTableOf(type.type)): string => {
  const columns = Object.entries(columnsOf(type)).map(([name, field]) => `  ${quote(name)} ${columnType(field)}`)
  return `create table if not exists ${database}.${table} (
  org_id LowCardinality(String),
  request_id UUID,
  batch_id UUID,
  accepted_at DateTime64(3, 'UTC'),
  version UInt64,
${columns.join(',\n')}
) engine = ReplacingMergeTree(version)
order by (${sortingKey(type).join(', ')})`
}

/** Adds the columns of fields that came into the catalogue after the table was made. */
export const laterColumns = (type: RecordType): string => {
  const added = Object.entries(columnsOf(type)).map(
    ([name, field]) => `  add column if not exists ${quote(name)} ${columnType(field)}`,
  )
  return `alter table ${database}.${logTableOf(type.type)}\n${added.join(',\n')}`
}

/** The view of what is true now: one row for each id, without deleted records. */
export const currentView = (type: RecordType): string => {
  const names = ['org_id', ...Object.keys(columnsOf(type)).map(quote)]
  const alive = type.fields.is_deleted ? '\nwhere not ifNull(is_deleted, false)' : ''
  return `create or replace view ${database}.${viewOf(type.type)} ${asReader} as
select ${names.join(', ')}
from ${database}.${logTableOf(type.type)} final${alive}`
}

// Interactions are read newest first, so their time stands before the id; it may, because it never changes.
const sortingKey = (type: RecordType): string[] => {
  const moments = Object.entries(type.fields).flatMap(([name, field]) => (field.kind === 'moment' ? [name] : []))
  return ['org_id', ...moments, type.id]
}

export const rejectionsTable = (table = rejectionsLog): string => `create table if not exists ${database}.${table} (
  org_id LowCardinality(String),
  request_id UUID,
  batch_id UUID,
  rejected_at DateTime64(3, 'UTC'),
  version UInt64,
  type LowCardinality(String),
  \`index\` UInt32,
  id Nullable(String),
  problems Array(Tuple(field Nullable(String), code String, message String)),
  record String,
  truncated Bool
) engine = ReplacingMergeTree(version)
order by (org_id, rejected_at, batch_id, \`index\`)`

// Every name is quoted: a field may have the name of a keyword, as `index` and `type` do.
const quote = (name: string): string => `\`${name}\``

const columnType = (field: Field): string => {
  const type = plainType(field)
  if (field.required) return type
  return type.startsWith('LowCardinality') ? 'LowCardinality(Nullable(String))' : `Nullable(${type})`
}

const plainType = (field: Field): string => {
  switch (field.kind) {
    case 'uuid':
    case 'reference':
    case 'item':
      return 'UUID'
    case 'text':
      return 'String'
    case 'country':
    case 'choice':
      return 'LowCardinality(String)'
    case 'number':
      return 'Float64'
    case 'boolean':
      return 'Bool'
    case 'instant':
    case 'moment':
      return "DateTime64(3, 'UTC')"
    case 'date':
      return 'Date32'
    default:
      return field satisfies never
  }
}
