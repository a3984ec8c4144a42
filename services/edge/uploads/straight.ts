import { type AvroBytes, createAvroBytes, pieceSize } from '#schemas/derive/submitted/avro-bytes.js'
import { codes, skipBlanks, skipValue, standsAt } from '#schemas/derive/submitted/json-bytes.js'
import { createStraightReader, type ReadStraight } from '#schemas/derive/submitted/straight-reader.js'
import type { RecordType } from '#schemas/record.js'
import type { Entry, ToEntry } from '../batches/entries.js'
import type { ReadEntries } from '../body/body.js'
import { countTokens, isTooMuch, lossOf } from '../body/json-exact.js'

/**
 * Reads an upload straight from its bytes to Avro. A record that the straight reader does not take, because it is wrong or
 * unusual, is parsed and validated by itself. A body that is not a plain upload, or of which JSON.parse would lose something,
 * is not read here at all: the slow way says what is wrong with it.
 */
export const createReadEntries = (type: RecordType, toEntry: ToEntry): ReadEntries => {
  const readStraight = createStraightReader(type)

  return async (body, breathe) => {
    // A small upload needs one small piece; a large one begins with as much as the next pieces have.
    const out = createAvroBytes(Math.min(body.length + 256, pieceSize))
    const entries: Entry[] = []
    let paused = 0
    let isParsable: boolean | undefined
    let at = beginningOf(body)
    if (at < 0) return undefined
    do {
      if (entries.length === type.limit) return undefined
      at = skipBlanks(body, at + 1)
      let end = readOne(readStraight, body, at, out, entries)
      if (end < 0) {
        await breathe()
        end = skipValue(body, at, longestSlow)
        if (end - at > longestSlow) return undefined
        isParsable ??= !isTooMuch(countTokens(body))
        const given = isParsable ? parseAlone(body.subarray(at, end)) : undefined
        if (!given) return undefined
        entries.push(toEntry(given.json))
      }
      at = skipBlanks(body, end)
      if (at - paused > pauseEvery) {
        paused = at
        await breathe()
      }
    } while (body[at] === codes.comma)
    return isEnd(body, at) ? entries : undefined
  }
}

// A record that is longer and wrong takes so long that the slow way reads it, step by step.
const longestSlow = 64 * 1024
// Bytes that are read in less than a millisecond. To ask for the time, and to wait, for each record would take a tenth of all.
const pauseEvery = 64 * 1024

const readOne = (read: ReadStraight, body: Buffer, at: number, out: AvroBytes, entries: Entry[]): number => {
  const end = read(body, at, out)
  if (end >= 0) entries.push({ index: 0, keyedSha256: null, avro: out.bytes, at: out.start, size: out.at - out.start })
  return end
}

const records = Buffer.from('"records"')

/** The place of the bracket before the records, if the body is `{"records": […`; or -1. */
const beginningOf = (body: Buffer): number => {
  let at = skipBlanks(body, 0)
  if (body[at] !== codes.brace) return -1
  at = skipBlanks(body, at + 1)
  if (!standsAt(body, at, records)) return -1
  at = skipBlanks(body, at + records.length)
  if (body[at] !== codes.colon) return -1
  at = skipBlanks(body, at + 1)
  return body[at] === codes.bracket ? at : -1
}

/** Whether nothing but `]}` is left. */
const isEnd = (body: Buffer, at: number): boolean => {
  if (body[at] !== codes.closingBracket) return false
  const brace = skipBlanks(body, at + 1)
  return body[brace] === codes.closingBrace && skipBlanks(body, brace + 1) === body.length
}

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
