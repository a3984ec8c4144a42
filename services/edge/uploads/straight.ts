import { createReadUpload } from '#schemas/byte-path/byte-path.js'
import type { RecordType } from '#schemas/record.js'
import type { ToEntry } from '../batches/entries.js'
import type { ReadEntries } from '../body/body.js'
import { countTokens, isTooMuch, lossOf } from '../body/json-exact.js'

/** Reads an upload straight from its bytes to Avro, unusual records by the validator. Any other body is not read here. */
export const createReadEntries = (type: RecordType, toEntry: ToEntry): ReadEntries =>
  createReadUpload(type, (body) => {
    let isParsable: boolean | undefined
    return (record) => {
      isParsable ??= !isTooMuch(countTokens(body))
      const given = isParsable ? parseAlone(record) : undefined
      return given && toEntry(given.json, () => record)
    }
  })

/** One record by itself; undefined where it is not JSON, or where JSON.parse loses some of it. */
const parseAlone = (bytes: Buffer): { json: unknown } | undefined => {
  const text = bytes.toString()
  try {
    const json: unknown = JSON.parse(text)
    return lossOf(text, json, countTokens(bytes)) ? undefined : { json }
  } catch {
    return undefined
  }
}
