import type { RecordType } from '../record.js'
import type { AvroBytes } from './avro-bytes.js'
import { codes, readToken, skipBlanks, standsAt } from './json-bytes.js'
import { createFieldWriter, type FieldWriter, writeRecord } from './value-writers.js'

/** Reads the JSON record at a place and writes it as Avro. Returns the place after it, or -1: to be read the slow way. */
export type ReadStraight = (json: Buffer, at: number, out: AvroBytes) => number

// Longer than what stands before any value as clients write it.
const longestLead = 100

/**
 * A reader for records of one type, straight from the bytes of the request: no string and no object is made. It takes a part of
 * what the validator takes, and nothing else; what it does not take the validator decides. JSON.parse, the validator and avsc
 * took 9 µs for a shop where this takes 1. What the service adds is not written here, but with the batch.
 */
export const createStraightReader = (type: RecordType): ReadStraight => {
  const writers = Object.values(type.fields).map(createFieldWriter)
  const fields = Object.keys(type.fields).map((name, place) => ({
    place,
    /** The place of the field that came after this one last time. */
    next: place + 1,
    // With the quote that ends it, so that no name is the beginning of another.
    name: Buffer.from(`${name}"`),
    /** What stood before its value last time, from the quote of its name on. */
    lead: Buffer.from(`"${name}":`),
    /** How long its string was last time; -1 where its end has to be looked for. */
    likely: writers[place]?.looksAtEachByte ? 0 : -1,
    token: (writers[place] as FieldWriter).token,
  }))
  type StraightField = (typeof fields)[number]

  const fieldAt = (json: Buffer, at: number): StraightField | undefined => {
    for (const field of fields) if (standsAt(json, at, field.name)) return field
    return undefined
  }

  /** Reads the value that begins here; returns the place after it, or -1. */
  const readValue = (json: Buffer, at: number, field: StraightField): number => {
    const { token, likely } = field
    // A quote at the likely end is the end, or there is one before it, which the writer does not take.
    if (likely > 0 && json[at] === codes.quote && json[at + 1 + likely] === codes.quote) {
      token.kind = 'string'
      token.from = at + 1
      token.to = at + 1 + likely
      return at + 2 + likely
    }
    const end = readToken(json, at, token)
    if (likely >= 0 && token.kind === 'string') field.likely = token.to - token.from
    return end
  }

  /** Finds every field of the record that begins here; returns the place after it. */
  const find = (json: Buffer, start: number): number => {
    let at = start
    let before: StraightField | undefined
    do {
      // Most clients write each record as the one before, to the last blank.
      const likely = fields[before ? before.next : 0]
      let field: StraightField | undefined
      if (likely && standsAt(json, at + 1, likely.lead)) {
        field = likely
        at += 1 + likely.lead.length
      } else {
        const lead = at + 1
        at = skipBlanks(json, lead)
        if (json[at] !== codes.quote) return -1
        field = fieldAt(json, at + 1)
        if (!field) return -1
        at = skipBlanks(json, at + 1 + field.name.length)
        if (json[at] !== codes.colon) return -1
        at = skipBlanks(json, at + 1)
        if (at - lead <= longestLead) field.lead = Buffer.from(json.subarray(lead, at))
      }
      if (field.token.kind !== 'absent') return -1
      if (before) before.next = field.place
      before = field
      at = readValue(json, at, field)
      if (at < 0) return -1
      at = skipBlanks(json, at)
    } while (json[at] === codes.comma)
    return json[at] === codes.closingBrace ? at + 1 : -1
  }

  return (json, start, out) => {
    if (json[start] !== codes.brace) return -1
    for (const { token } of fields) token.kind = 'absent'
    const end = find(json, start)
    if (end < 0) return -1
    return writeRecord(out, json, end - start, writers) ? end : -1
  }
}
