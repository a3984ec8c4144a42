import { createPauses } from '#platform/process/pauses.js'
import { createSentRecords, createValuesEncoder, depthOf, type OutgoingRecord } from '#schemas/byte-path/byte-path.js'
import { createValidator } from '#schemas/derive/validator.js'
import type { Refusal } from '#schemas/events.js'
import type { Values } from '#schemas/field.js'
import type { RecordType } from '#schemas/record.js'

/** One record after validation: as it will be published, or why it was refused. `size` is about how many bytes it takes. */
export type Entry = OutgoingRecord | { size: number; refusal: Omit<Refusal, 'index'> }

/**
 * Checks a record of this type as it came out of JSON; `sent` is the JSON that it came out of, and `assigned` are the values that the
 * service adds, where they are not added with the batch.
 */
export type ToEntry = (given: unknown, sent: SentBytes, assigned?: Values) => Entry

/** JSON in UTF-8. A function, because it is needed only where a record is refused. */
export type SentBytes = () => Buffer

export const createToEntry = (type: RecordType): ToEntry => {
  const validate = createValidator(type)
  const encode = createValuesEncoder(type)
  return (given, sent, assigned) => {
    const result = validate(given)
    if ('values' in result) {
      const avro = encode(result.values, assigned)
      return { index: 0, keyedSha256: null, avro, at: 0, size: avro.length }
    }
    const { id, problems } = result
    const stored = toStoredRecord(sent())
    return { refusal: { id, problems, ...stored }, size: stored.record.length + problems.length * perProblem }
  }
}

/** A line that is no record. Its text is kept, always as one that is cut off: it is no JSON, and is never submitted again. */
export const unreadable = (line: Buffer, message: string): Entry => {
  // Bytes that are no UTF-8 become characters of three bytes.
  const record = beginningOf(Buffer.from(line.toString('utf8', 0, mostBytes)))
  const problems = [{ field: null, code: 'unreadable' as const, message }]
  return { refusal: { id: null, problems, record, truncated: true }, size: record.length + perProblem }
}

// An estimate: a refusal is written once only, when its batch is.
const perProblem = 100

/** The records of a request, validated. */
export const toEntries = async (
  toEntry: ToEntry,
  records: readonly unknown[],
  sentAt: (index: number) => SentBytes,
): Promise<Entry[]> => {
  const pause = createPauses()
  const entries: Entry[] = []
  for (const [index, given] of records.entries()) {
    entries.push(toEntry(given, sentAt(index)))
    await pause()
  }
  return entries
}

/** What was sent of each record in the body of an upload. */
export const sentIn = (body: Buffer): ((index: number) => SentBytes) => {
  const sentAt = createSentRecords(body)
  return (index) => () => sentAt(index)
}

const mostBytes = 64 * 1024
// JSON.parse of other languages gives up on a text that is nested much deeper.
const mostLevels = 100

/** A refused record as its rejection keeps it: byte for byte as it was sent, up to 64 KiB. What is cut off is not submitted again. */
export const toStoredRecord = (sent: Buffer): Pick<Refusal, 'record' | 'truncated'> => ({
  record: beginningOf(sent),
  truncated: sent.length > mostBytes || depthOf(sent) > mostLevels,
})

/** The first 64 KiB of a text in UTF-8, not cut within a character. */
const beginningOf = (text: Buffer): string => {
  let end = Math.min(text.length, mostBytes)
  // The second byte of a character and those after it are 10xxxxxx.
  while (end < text.length && ((text[end] as number) & 0xc0) === 0x80) end--
  return text.toString('utf8', 0, end)
}
