import type { ClickHouse } from '#platform/clickhouse.js'
import { quote } from '#schemas/derive/clickhouse/columns.js'
import { stateTableOf } from '#schemas/derive/clickhouse.js'
import { database } from '#schemas/derive/names.js'
import type { AcceptedEvent } from '#schemas/events.js'
import type { Field } from '#schemas/field.js'
import { columnsOf, type RecordType } from '#schemas/record.js'
import type { TablePosition } from './cursor.js'

/** The newest version of each record that was accepted at `since` or later, in the order of their keys. */
export type ReadTables = (
  orgId: string,
  type: RecordType,
  at: Pick<TablePosition, 'since' | 'after'>,
  most: number,
) => Promise<{ events: AcceptedEvent[]; after: TablePosition['after'] }>

/** From ClickHouse, which finds an organisation's rows by the key of the table; so a page takes the same wherever it begins. */
export const createReadTables =
  (clickhouse: Pick<ClickHouse, 'query'>): ReadTables =>
  async (org, type, { since, after }, most) => {
    const key = keyOf(type)
    const behind = after.length === key.length ? `and (${list(key, 'column')}) > (${list(key, 'value')})` : ''
    // Not with `final`, which would merge all that is behind a page each time.
    const rows = await clickhouse.query<AcceptedEvent>(
      `select ${eventColumns(type)}
      from ${database}.${stateTableOf(type)}
      where org_id = {org:String} ${behind}
        ${since > 0 ? "and accepted_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')" : ''}
      order by ${list(key, 'column')}, version desc
      limit 1 by ${list(key, 'column')}
      limit {most:UInt32}`,
      { org, since, most, ...Object.fromEntries(after.map((value, place) => [`key${place}`, value])) },
      { optimize_read_in_order: 1 },
    )
    const last = rows.at(-1)
    return { events: rows, after: last ? key.map(({ name }) => last[name] as string | number) : after }
  }

/** What rows of an organisation are sorted by in their table. */
type KeyPart = { name: string; column: string; value: string }

const keyOf = (type: RecordType): KeyPart[] =>
  Object.entries(columnsOf(type))
    .filter(([name, field]) => name === type.id || field.kind === 'moment')
    .sort(([a], [b]) => Number(a === type.id) - Number(b === type.id))
    .map(([name], place) => ({
      name,
      column: quote(name),
      value: name === type.id ? `{key${place}:UUID}` : `fromUnixTimestamp64Milli({key${place}:Int64}, 'UTC')`,
    }))

const list = (key: readonly KeyPart[], what: 'column' | 'value'): string => key.map((part) => part[what]).join(', ')

/** The columns as events have them. */
export const eventColumns = (type: RecordType): string =>
  [
    'org_id, toString(request_id) as request_id, toString(batch_id) as batch_id',
    'toFloat64(toUnixTimestamp64Milli(accepted_at)) as accepted_at, toFloat64(version) as version',
    ...Object.entries(columnsOf(type)).map(([name, field]) => `${asEvent(field, quote(name))} as ${quote(name)}`),
  ].join(',\n        ')

const asEvent = (field: Field, column: string): string => {
  switch (field.kind) {
    case 'instant':
    case 'moment':
      return `toFloat64(toUnixTimestamp64Milli(${column}))`
    case 'date':
      return `toInt32(${column})`
    case 'uuid':
    case 'reference':
    case 'item':
    case 'text':
    case 'country':
    case 'number':
    case 'boolean':
    case 'choice':
      return column
    default:
      return field satisfies never
  }
}
