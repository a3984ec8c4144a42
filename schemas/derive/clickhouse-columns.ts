import type { Field } from '../field.js'
import { columnsOf, type RecordType } from '../record.js'

/** A column as ClickHouse declares it; the comment is what `describe table` shows an analyst. */
export type ClickHouseColumn = { name: string; type: string; comment: string }

const instantType = "DateTime64(3, 'UTC')"

const orgId = {
  name: 'org_id',
  type: 'LowCardinality(String)',
  comment: 'the organisation that uploaded it',
} satisfies ClickHouseColumn

const origin = [
  { name: 'request_id', type: 'UUID', comment: 'the request that brought it' },
  { name: 'batch_id', type: 'UUID', comment: 'the batch of that request' },
] satisfies ClickHouseColumn[]

const acceptance = [
  { name: 'accepted_at', type: instantType, comment: 'when this version was accepted' },
  { name: 'version', type: 'UInt64', comment: 'grows with each version of a record' },
] satisfies ClickHouseColumn[]

/** The columns of a type's tables: where a row comes from, then the record's own. */
export const tableColumns = (type: RecordType): ClickHouseColumn[] => [
  orgId,
  ...origin,
  ...acceptance,
  ...ownColumns(type),
]

/** The columns of a type's view, and of its state at an earlier time. */
export const viewColumns = (type: RecordType): ClickHouseColumn[] => [orgId, ...ownColumns(type), ...acceptance]

/** The columns of a type's history: a row for each version. */
export const historyColumns = (type: RecordType): ClickHouseColumn[] => [
  orgId,
  ...ownColumns(type).map((column) =>
    column.name === 'is_deleted'
      ? { ...column, type: 'Bool', comment: 'whether this version deleted the record' }
      : column,
  ),
  { name: 'version', type: 'UInt64', comment: 'grows with each version of a record' },
  { name: 'valid_from', type: instantType, comment: 'when this version was accepted' },
  {
    name: 'valid_to',
    type: `Nullable(${instantType})`,
    comment: 'when the next version was accepted; null while this is the newest',
  },
  ...origin,
]

/** A column in a `create` or `add column`. */
export const declared = ({ name, type, comment }: ClickHouseColumn): string =>
  `${quote(name)} ${type} comment ${literal(comment)}`

/** Every name is quoted: a field may have the name of a keyword, as `index` and `type` do. */
export const quote = (name: string): string => `\`${name}\``

export const literal = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`

const ownColumns = (type: RecordType): ClickHouseColumn[] =>
  Object.entries(columnsOf(type)).map(([name, field]) => ({ name, type: columnType(field), comment: commentOf(field) }))

const commentOf = (field: Field): string => [field.about, kindOf(field)].filter(Boolean).join('; ')

/** What analysts cannot see from the column's type. */
const kindOf = (field: Field): string => {
  switch (field.kind) {
    case 'reference':
      return `the id of one of the ${field.to}`
    case 'item':
      return `the id of a record of the kind that ${field.by} says`
    case 'choice':
      return field.of.length > 1 ? `one of ${field.of.join(', ')}` : ''
    default:
      return ''
  }
}

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
      return instantType
    case 'date':
      return 'Date32'
    default:
      return field satisfies never
  }
}
