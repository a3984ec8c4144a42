import type { Person } from '../../field.js'
import type { Mask } from '../../persons/masks.js'
import * as names from '../names.js'
import { type ClickHouseColumn, declared, literal, orgId, quote } from './columns.js'
import { oneServer, type Placement } from './placement.js'
import { createTable } from './table.js'
import { createView } from './view.js'

// The views as they are for analysts who have no right to see personal fields. Such an analyst may read these and nothing else; they read
// the others as the user who made them. On a cluster there are none: another server would be asked as the analyst, and refuse (ClickHouse
// issue 88009).

const { database, maskedDatabase } = names

/** A view of the database, and what of each of its columns is shown. */
export type Maskable = {
  view: string
  about: string
  columns: readonly MaskedColumn[]
  /** The values that it is asked with. */
  asked?: readonly string[]
  /** A condition on the rows that are shown. */
  where?: string
  /** The column by which the table is sorted, where that names a person. */
  sortedBy?: string | undefined
}
/** `as`: an expression in place of the column, without anything of a person in it. */
export type MaskedColumn = ClickHouseColumn & { mask: Mask | { as: string } }

const saltColumns: ClickHouseColumn[] = [
  orgId,
  // Two halves of a key of SipHash.
  { name: 'k0', type: 'UInt64', comment: 'the first half of the secret' },
  { name: 'k1', type: 'UInt64', comment: 'the second half of the secret' },
  { name: 'made_at', type: "DateTime64(6, 'UTC')", comment: 'when it was made; of several the first counts' },
]

export const saltsTable = (placed: Placement): string[] =>
  createTable({
    ...{ table: names.maskSaltsTable, columns: saltColumns.map(declared), keeps: 'all', key: ['org_id'], placed },
    about: 'by organisation, the secret that pseudonyms of its persons are made with; no masked analyst may read it',
  })

/** Keeps a secret for an organisation, unless it has one: pseudonyms stay as they are. */
export const addSaltSql = (org: string, [k0, k1]: readonly [bigint, bigint]): string =>
  `insert into ${salts} (org_id, k0, k1, made_at)
select ${literal(org)}, toUInt64(${k0}), toUInt64(${k1}), now64(6, 'UTC')
where ${literal(org)} not in (select org_id from ${salts})`

export const maskedViews = (views: readonly Maskable[], placed: Placement): string[] =>
  placed === oneServer
    ? [`create database if not exists ${maskedDatabase}`, ...views.map((view) => maskedView(view, placed))]
    : []

const maskedView = ({ view, about, columns, asked, where, sortedBy }: Maskable, placed: Placement): string => {
  const values = asked ? `(${asked.map((name) => `${name} = {${name}:String}`).join(', ')})` : ''
  const namesPersons = columns.some(({ mask }) => mask === 'customer' || mask === 'user')
  const query = [
    // Each column by the name of its table: an analyst's settings could let a bare name mean another one.
    `select ${columns.map((column) => `${expressionOf(column)} as ${quote(column.name)}`).join(', ')}`,
    `from ${database}.${view}${values} as shown`,
    // Without a secret there is no row.
    ...(namesPersons ? [`all inner join (${saltQuery}) as salts on shown.org_id = salts.org_id`] : []),
    ...(where ? [`where ${where}`] : []),
    // Sorted by the pseudonyms. If rows came in the order of the ids, somebody with a list of all ids could match the two, one by one.
    ...columns.filter(({ name }) => name === sortedBy).map((column) => `order by ${expressionOf(column)}`),
    // With this setting `explain pipeline` shows ids: the bounds of what each thread reads. A view's own settings count before an analyst's.
    'settings split_intersecting_parts_ranges_into_layers_final = 0',
  ].join('\n')
  return createView(view, asked ? undefined : columns, query, about, placed, {
    within: maskedDatabase,
    as: 'definer = current_user sql security definer',
  })
}

const salts = `${database}.${names.maskSaltsTable}`
const saltQuery = `select org_id, argMin((k0, k1), made_at) as salt from ${salts} group by org_id`

const expressionOf = ({ name, type, mask }: MaskedColumn): string => {
  const column = `shown.${quote(name)}`
  if (typeof mask === 'object') return mask.as
  if (mask === 'shown') return column
  const plain = /^Nullable\((.*)\)$/.exec(type)?.[1] ?? type
  if (mask === 'hidden' || (plain !== 'UUID' && plain !== 'String')) return `defaultValueOfTypeName(${literal(type)})`
  const masked = pseudonym(mask, column, plain)
  return plain === type ? masked : `if(${column} is null, null, ${masked})`
}

/** A user is named by a UUID in one view and by a text in another: both become the same pseudonym. */
const pseudonym = (person: Person, column: string, type: 'UUID' | 'String'): string => {
  const text = `ifNull(toString(${column}), '')`
  const canonical = type === 'UUID' ? text : `ifNull(toString(toUUIDOrNull(${text})), ${text})`
  const id = `reinterpretAsUUID(sipHash128ReferenceKeyed(salts.salt, ${literal(person)}, ${canonical}))`
  return type === 'UUID' ? id : `toString(${id})`
}
