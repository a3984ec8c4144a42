import { createReadUpload } from '#schemas/byte-path/byte-path.js'
import type { RecordType } from '#schemas/record.js'
import type { ToEntry } from '../batches/entries.js'
import type { ReadEntries } from '../body/body.js'
import { countTokens, isTooMuch, type JsonCounts, lossOf, mostNames, mostValues } from '../body/json-exact.js'

/** Reads an upload straight from its bytes to Avro, unusual records by the validator. Any other body is not read here. */
export const createReadEntries = (type: RecordType, toEntry: ToEntry): ReadEntries =>
  createReadUpload(type, (body) => {
    const unusual = { values: 0, differentNames: 0 }
    let isParsable: boolean | undefined
    return (record) => {
      const counts = countTokens(record)
      unusual.values += counts.values
      unusual.differentNames += counts.differentNames
      if (mayBeTooMuch(unusual)) isParsable ??= !isTooMuch(countTokens(body))
      const given = isParsable === false ? undefined : parseAlone(record, counts)
      return given && toEntry(given.json, () => record)
    }
  })

// What a body holds besides its unusual records is at most a full upload: with a few of them it cannot be too much, and need not be counted.
const mayBeTooMuch = ({ values, differentNames }: Pick<JsonCounts, 'values' | 'differentNames'>): boolean =>
  values > mostValues / 10 || differentNames > mostNames / 2

/** One record by itself; undefined where it is not JSON, or where JSON.parse loses some of it. */
const parseAlone = (bytes: Buffer, counts: JsonCounts): { json: unknown } | undefined => {
  const text = bytes.toString()
  try {
    const json: unknown = JSON.parse(text)
    return lossOf(text, json, counts) ? undefined : { json }
  } catch {
    return undefined
  }
}
