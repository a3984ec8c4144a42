import type { RecordType } from '../record.js'
import { createAvroBytesFor } from './avro-bytes.js'
import { type OutgoingRecord, recordIn } from './batch-bytes.js'
import { codes, skipBlanks, skipValue, standsAt } from './json-bytes.js'
import { createStraightReader } from './straight-reader.js'

/** The records of a body; undefined where the body is not to be read here. `pause` lets other requests be served. */
export type ReadUpload<Slow> = (
  body: Buffer,
  pause: () => Promise<void> | undefined,
) => Promise<(OutgoingRecord | Slow)[] | undefined>

/**
 * Reads uploads, `{"records": […]}`, straight from their bytes to Avro. A record that the straight reader does not take, because
 * it is wrong or unusual, is handed to `openSlowly`, which was given its body before; a body of which that cannot read a record,
 * or that is not a plain upload, is not read here at all.
 */
export const createReadUpload = <Slow>(
  type: RecordType,
  openSlowly: (body: Buffer) => (record: Buffer) => Slow | undefined,
): ReadUpload<Slow> => {
  const readStraight = createStraightReader(type)

  return async (body, pause) => {
    const out = createAvroBytesFor(body)
    const readSlowly = openSlowly(body)
    const records: (OutgoingRecord | Slow)[] = []
    let paused = 0
    let at = beginningOf(body)
    if (at < 0) return undefined
    do {
      if (records.length === type.limit) return undefined
      at = skipBlanks(body, at + 1)
      let end = readStraight(body, at, out)
      if (end >= 0) records.push(recordIn(out))
      else {
        await pause()
        end = skipValue(body, at, longestSlow)
        const read = end - at > longestSlow ? undefined : readSlowly(body.subarray(at, end))
        if (!read) return undefined
        records.push(read)
      }
      at = skipBlanks(body, end)
      if (at - paused > pauseEvery) {
        paused = at
        await pause()
      }
    } while (body[at] === codes.comma)
    return isEnd(body, at) ? records : undefined
  }
}

/** The bytes of each record of a body that was read as `{"records": […]}`; to be asked for one after the other. */
export const createSentRecords = (body: Buffer): ((index: number) => Buffer) => {
  let next = 0
  let from = 0
  let to = 0
  return (index) => {
    for (; next <= index; next++) {
      from = skipBlanks(body, body.indexOf(next === 0 ? codes.bracket : codes.comma, to) + 1, body.length)
      to = skipValue(body, from, body.length)
    }
    return body.subarray(from, to)
  }
}

// A record that is longer and wrong takes so long that the slow way reads it, step by step.
const longestSlow = 64 * 1024
// Bytes that are read in less than a millisecond. To ask for the time, and to wait, for each record would take a tenth of all.
const pauseEvery = 64 * 1024

const recordsName = Buffer.from('"records"')

/** The place of the bracket before the records, if the body is `{"records": […`; or -1. */
const beginningOf = (body: Buffer): number => {
  let at = skipBlanks(body, 0)
  if (body[at] !== codes.brace) return -1
  at = skipBlanks(body, at + 1)
  if (!standsAt(body, at, recordsName)) return -1
  at = skipBlanks(body, at + recordsName.length)
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
