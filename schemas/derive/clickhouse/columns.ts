import type { Field } from '../../field.js'
import { columnsOf, type RecordType } from '../../record.js'

/** A column as ClickHouse declares it; the comment is what `describe table` shows an analyst. */
export type ClickHouseColumn = { name: string; type: string; comment: string }
/** A column of a table that ClickHouse fills itself, by this expression. */
type FilledColumn = ClickHouseColumn & { by: string }

const instantType = "DateTime64(3, 'UTC')"

export const orgId = {
  name: 'org_id',
  type: 'LowCardinality(String)',
  comment: 'the organisation that uploaded it',
} satisfies ClickHouseColumn

export const origin = [
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

/**
 * Exact numbers beside the floats that are summed. `toDecimal64(0.29, 2)` is 0.28, since a float is cut off; the shortest text of a float
 * has the digits that were sent.
 */
export const exactColumns = (type: RecordType): FilledColumn[] =>
  Object.entries(columnsOf(type)).flatMap(([name, field]) =>
    field.kind === 'number' && field.isSummed
      ? [
          {
            name: `${name}_exact`,
            type: 'Nullable(Decimal(38, 9))',
            comment: `${name} as an exact number, for sums; with nine decimals, and null from 10^29 on`,
            by: `toDecimal128OrNull(toString(${quote(name)}), 9)`,
          },
        ]
      : [],
  )

/** The columns of a type's view, and of its state at an earlier time: a deleted record is in neither. */
export const viewColumns = (type: RecordType): ClickHouseColumn[] => [
  orgId,
  ...shownColumns(type, 'always false: a deleted record is not here'),
  ...acceptance,
  ...exactColumns(type),
]

/** The columns of a type's history: a row for each version. */
export const historyColumns = (type: RecordType): ClickHouseColumn[] => [
  orgId,
  ...shownColumns(type, 'whether this version deleted the record'),
  { name: 'version', type: 'UInt64', comment: 'grows with each version of a record' },
  { name: 'valid_from', type: instantType, comment: 'when this version was accepted' },
  {
    name: 'valid_to',
    type: `Nullable(${instantType})`,
    comment: 'when the next version was accepted; null while this is the newest',
  },
  ...origin,
  ...exactColumns(type),
]

/** A record's own columns in a view: whether it is deleted is yes or no there, also where that was left out. */
const shownColumns = (type: RecordType, comment: string): ClickHouseColumn[] =>
  ownColumns(type).map((column) => (column.name === 'is_deleted' ? { ...column, type: 'Bool', comment } : column))

/** A column in a `create` or `add column`. */
export const declared = ({ name, type, comment }: ClickHouseColumn): string =>
  `${quote(name)} ${type} comment ${literal(comment)}`
export const declaredFilled = ({ name, type, comment, by }: FilledColumn): string =>
  `${quote(name)} ${type} materialized ${by} comment ${literal(comment)}`

/** Every name is quoted: a field may have the name of a keyword, as `index` and `type` do. */
export const quote = (name: string): string => `\`${name}\``

/** Their names, as a statement lists them. */
export const listOf = (columns: readonly ClickHouseColumn[]): string =>
  columns.map(({ name }) => quote(name)).join(', ')

export const literal = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`

/** A record's own columns, as its table has them. */
export const ownColumns = (type: RecordType): ClickHouseColumn[] =>
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
