import type { Catalogue } from '../catalogue.js'
import type { Field } from '../field.js'
import { columnsOf, type RecordType } from '../record.js'
import { database, logTableOf, rejectionsLog, rejectionsView, viewOf } from './names.js'

/** The statements that make a type's tables and views; each may be run again. */
export const clickhouseSql = (catalogue: Catalogue): string[] => [
  `create database if not exists ${database}`,
  ...[...catalogue.all.values()].flatMap((type) => [logTable(type), laterColumns(type), currentView(type)]),
  rejectionsTable(),
  `create or replace view ${database}.${rejectionsView} ${asReader} as\nselect * except (version)\nfrom ${database}.${rejectionsLog} final`,
]

// Said, though it is the default: were a server set otherwise, an analyst's row policies would not hold in the views.
const asReader = 'sql security invoker'

/** Every version that was accepted, until a merge keeps the highest. Under another name while it is made anew. */
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

/** A field that was added to the catalogue after the table was made. */
export const laterColumns = (type: RecordType): string => {
  const added = Object.entries(columnsOf(type)).map(
    ([name, field]) => `  add column if not exists ${quote(name)} ${columnType(field)}`,
  )
  return `alter table ${database}.${logTableOf(type.type)}\n${added.join(',\n')}`
}

/** What is true now: one row for each id, deleted ones left out. */
export const currentView = (type: RecordType): string => {
  const names = ['org_id', ...Object.keys(columnsOf(type)).map(quote)]
  const alive = type.fields.is_deleted ? '\nwhere not ifNull(is_deleted, false)' : ''
  return `create or replace view ${database}.${viewOf(type.type)} ${asReader} as
select ${names.join(', ')}
from ${database}.${logTableOf(type.type)} final${alive}`
}

// Interactions are read newest first, and an interaction's time never changes, so that it can stand before the id.
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

// Always: a field may bear the name of a keyword, as `index` and `type` do.
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
