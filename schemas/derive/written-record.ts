import type { Field } from '../field.js'
import { writeDate, writeInstant } from '../read-instant.js'
import type { RecordType } from '../record.js'

/** The opposite of the validator: values become a record as an uploader would write it, without absent fields. */
export const createRecordWriter = (
  type: RecordType,
): ((values: Record<string, unknown>) => Record<string, unknown>) => {
  const fields = Object.entries(type.fields)
  return (values) => {
    const written: Record<string, unknown> = {}
    for (const [name, field] of fields) {
      const value = values[name]
      if (value !== null && value !== undefined) written[name] = asWritten(field, value)
    }
    return written
  }
}

/** A value that is there, as an uploader would write it. */
export const asWritten = (field: Field, value: unknown): unknown => {
  switch (field.kind) {
    case 'instant':
    case 'moment':
      return writeInstant(Number(value))
    case 'date':
      return writeDate(Number(value))
    case 'uuid':
    case 'reference':
    case 'item':
    case 'text':
    case 'country':
    case 'number':
    case 'boolean':
    case 'choice':
      return value
    default:
      return field satisfies never
  }
}
