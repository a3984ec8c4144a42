import { createPauses } from '#platform/process/pauses.js'
import { createValuesEncoder, type OutgoingRecord } from '#schemas/byte-path/byte-path.js'
import { createValidator } from '#schemas/derive/validator.js'
import type { Refusal } from '#schemas/events.js'
import type { Values } from '#schemas/field.js'
import type { RecordType } from '#schemas/record.js'

/** One record after validation: as it will be published, or why it was refused. `size` is about how many bytes it takes. */
export type Entry = OutgoingRecord | { size: number; refusal: Omit<Refusal, 'index'> }

/** Checks a record of this type as it came out of JSON; `assigned` are the values that the service adds. */
export type ToEntry = (given: unknown, assigned?: Values) => Entry

export const createToEntry = (type: RecordType): ToEntry => {
  const validate = createValidator(type)
  const encode = createValuesEncoder(type)
  return (given, assigned) => {
    const result = validate(given)
    if ('values' in result) {
      const avro = encode(assigned ? { ...assigned, ...result.values } : result.values)
      return { index: 0, keyedSha256: null, avro, at: 0, size: avro.length }
    }
    const { id, problems } = result
    const stored = toStoredRecord(given)
    return { refusal: { id, problems, ...stored }, size: stored.record.length + problems.length * perProblem }
  }
}

/** A line that is no record. Its text is kept, always as one that is cut off: it is no JSON, and is never submitted again. */
export const unreadable = (line: Buffer, message: string): Entry => {
  const { record } = shortened(line.toString('utf8', 0, Math.min(line.length, mostBytes)))
  const problems = [{ field: null, code: 'unreadable' as const, message }]
  return { refusal: { id: null, problems, record, truncated: true }, size: record.length + perProblem }
}

// An estimate: a refusal is written once only, when its batch is.
const perProblem = 100

/** The records of a request, validated. */
export const toEntries = async (toEntry: ToEntry, records: readonly unknown[]): Promise<Entry[]> => {
  const pause = createPauses()
  const entries: Entry[] = []
  for (const given of records) {
    entries.push(toEntry(given))
    await pause()
  }
  return entries
}

type StoredRecord = Pick<Refusal, 'record' | 'truncated'>

const mostBytes = 64 * 1024
const mostLevels = 100
const tooDeep: StoredRecord = { record: `(nested more than ${mostLevels} levels deep)`, truncated: true }

/** A refused record as its rejection keeps it: as JSON, at most 64 KiB of it. */
export const toStoredRecord = (given: unknown): StoredRecord => {
  const length = lengthOf(given)
  if (length === undefined) return tooDeep
  return shortened(length > mostBytes ? writeBeginning(given, mostBytes) : JSON.stringify(given))
}

const shortened = (text: string): StoredRecord => {
  if (text.length * 3 <= mostBytes) return { record: text, truncated: false }
  // encodeInto stops before a character that does not fit, so the text is never cut within one.
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(mostBytes))
  return { record: text.slice(0, read), truncated: read < text.length }
}

/** The JSON of a value, or a text longer than `enough` that begins as it does: the rest of 16 MiB need not be written. */
const writeBeginning = (given: unknown, enough: number): string => {
  let text = ''
  const write = (value: unknown): void => {
    if (text.length > enough) return
    if (typeof value === 'string') text += JSON.stringify(value.length > enough ? value.slice(0, enough) : value)
    else if (typeof value !== 'object' || value === null) text += JSON.stringify(value)
    else if (Array.isArray(value)) writeAll('[', value, ']', write)
    else
      writeAll('{', Object.keys(value), '}', (name) => {
        write(name)
        text += ':'
        write((value as Record<string, unknown>)[name])
      })
  }
  const writeAll = <T>(open: string, items: readonly T[], close: string, writeOne: (item: T) => void): void => {
    text += open
    for (const [i, item] of items.entries()) {
      if (i > 0) text += ','
      writeOne(item)
      if (text.length > enough) return
    }
    text += close
  }
  write(given)
  return text
}

/** About how long a value's JSON is; undefined where it is nested so deep that writing it would end with a RangeError. */
const lengthOf = (given: unknown): number | undefined => {
  let length = 0
  let level: unknown[] = [given]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > mostLevels) return undefined
    const next: unknown[] = []
    for (const value of level) {
      if (typeof value === 'string') length += value.length
      if (typeof value !== 'object' || value === null) continue
      for (const name of Array.isArray(value) ? [] : Object.keys(value)) length += name.length
      for (const inner of Object.values(value)) next.push(inner)
    }
    level = next
  }
  return length
}
