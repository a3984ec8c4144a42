import type { Validate } from '#schemas/derive/validator.js'
import type { Refusal } from '#schemas/events.js'
import type { Values } from '#schemas/field.js'

/**
 * One record of a request after validation: its values, or why it was refused. `size` is about how many bytes it takes.
 */
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

type StoredRecord = Pick<Refusal, 'record' | 'truncated'>

const mostBytes = 64 * 1024
const mostLevels = 100
const tooDeep: StoredRecord = { record: `(nested more than ${mostLevels} levels deep)`, truncated: true }

/** A refused record as its rejection keeps it: as JSON, at most 64 KiB of it. */
export const toStoredRecord = (given: unknown): StoredRecord => {
  // JSON.stringify walks by recursion: a few thousand levels end it with a RangeError.
  if (isDeeperThan(mostLevels, given)) return tooDeep
  const text = JSON.stringify(given)
  if (text.length * 3 <= mostBytes) return { record: text, truncated: false }
  // encodeInto stops before a character that does not fit, so the text is never cut within one.
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(mostBytes))
  return { record: text.slice(0, read), truncated: read < text.length }
}

const isDeeperThan = (most: number, given: unknown): boolean => {
  let level: unknown[] = [given]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > most) return true
    level = level.flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : []))
  }
  return false
}
