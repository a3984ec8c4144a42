import { Unavailable } from '#http/request-error.js'
import type { ClickHouse } from '#platform/clickhouse.js'
import { database, viewOf } from '#schemas/derive/names.js'
import type { Field } from '#schemas/field.js'
import { columnsOf, type RecordType } from '#schemas/record.js'
import type { InteractionQuery, InteractionRow, ReadInteractions } from './list-interactions.js'

// Less than the edge waits for an answer: ClickHouse itself ends a read that is no longer waited for.
const settings = { date_time_output_format: 'iso', max_execution_time: 9 }

/** Reads interactions from the ClickHouse view, a moment after they were accepted. */
export const createReadInteractions = (clickhouse: Pick<ClickHouse, 'query'>, type: RecordType): ReadInteractions => {
  return async (orgId, query) => {
    const { sql, values } = toSelect(type, orgId, query)
    try {
      return await clickhouse.query<InteractionRow>(sql, values, settings)
    } catch (cause) {
      throw new Unavailable('interactions cannot be read at the moment', { cause })
    }
  }
}

/** The statement and its values; nothing that a client sent is ever part of the text. */
export const toSelect = (type: RecordType, orgId: string, query: InteractionQuery) => {
  const conditions = ['org_id = {org_id:String}']
  const values: Record<string, unknown> = { org_id: orgId, limit: query.limit }
  for (const [name, value] of Object.entries(query.filters)) {
    conditions.push(`${name} = {${name}:${parameterType(type.fields[name])}}`)
    values[name] = value
  }
  if (query.from !== undefined) {
    conditions.push(`event_timestamp >= ${instant('from')}`)
    values.from = query.from
  }
  if (query.to !== undefined) {
    conditions.push(`event_timestamp < ${instant('to')}`)
    values.to = query.to
  }
  if (query.after) {
    // ClickHouse can use its sorting key for the first condition alone; the second settles ties within a millisecond.
    conditions.push(`event_timestamp <= ${instant('after')}`)
    conditions.push(`(event_timestamp < ${instant('after')} or toString(interaction_id) < {after_id:String})`)
    values.after = query.after.timestamp
    values.after_id = query.after.id
  }
  // Compared and ordered as text: ClickHouse orders UUIDs by their second half, which no client would guess.
  const sql = `select ${Object.keys(columnsOf(type)).join(', ')}
from ${database}.${viewOf(type.type)}
where ${conditions.join(' and ')}
order by event_timestamp desc, toString(interaction_id) desc
limit {limit:UInt32}`
  return { sql, values }
}

const instant = (name: string): string => `fromUnixTimestamp64Milli({${name}:Int64}, 'UTC')`

const parameterType = (field: Field | undefined): string =>
  field?.kind === 'uuid' || field?.kind === 'reference' || field?.kind === 'item' ? 'UUID' : 'String'
