import type { Validate } from '#schemas/derive/validator.js'
import type { Refusal } from '#schemas/events.js'
import type { Values } from '#schemas/field.js'
import { toStoredRecord } from './stored-record.js'

/** One record of a request after validation: its values, or why it was refused. `size` is about how many bytes it takes. */
export type Entry = { size: number; keyedSha256?: Buffer } & ({ values: Values } | { refusal: Omit<Refusal, 'index'> })

export const toEntry = (validate: Validate, given: unknown): Entry => {
  const result = validate(given)
  if ('values' in result) return { values: result.values, size: sizeOf(result.values) }
  const { id, problems } = result
  const stored = toStoredRecord(given)
  return { refusal: { id, problems, ...stored }, size: stored.record.length + problems.length * perProblem }
}

// Estimates: writing a record out only to measure it would cost more than all of its validation.
const perField = 10
const perProblem = 100

const sizeOf = (values: Values): number => {
  let size = 0
  for (const name in values) {
    const value = values[name]
    size += perField + (typeof value === 'string' ? value.length : 0)
  }
  return size
}
