import { asWritten } from '#schemas/derive/written-record.js'
import type { Field } from '#schemas/field.js'
import { asJson } from '#schemas/json-text.js'
import { columnsOf } from '#schemas/record.js'
import type { FeedEvent } from './read-log.js'

/** An accepted record as a feed and a webhook show it; `record` has every field of the type, null where the record has none. */
export type ShownEvent = {
  type: string
  id: string
  version: number
  accepted_at: Date
  is_deleted: boolean
  record: Record<string, unknown>
}

/** To be written by `writeJson`. */
export const toShown = ({ type, event }: FeedEvent): ShownEvent => ({
  type: type.type,
  id: String(event[type.id]),
  version: event.version,
  accepted_at: new Date(event.accepted_at),
  is_deleted: event.is_deleted === true,
  record: Object.fromEntries(
    Object.entries(columnsOf(type)).map(([name, field]) => [name, shown(field, event[name] ?? null)]),
  ),
})

const shown = (field: Field, value: unknown): unknown => {
  if (value === null) return null
  // JSON.stringify makes 0 of it.
  return Object.is(value, -0) ? asJson('-0') : asWritten(field, value)
}
