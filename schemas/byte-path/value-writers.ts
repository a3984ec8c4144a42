import { countries } from '../countries.js'
import { createReader, longestText } from '../derive/value-reader.js'
import type { Field } from '../field.js'
import { readEpoch, withinYears } from '../read-instant.js'
import { type AvroBytes, begin, writeBytes, writeDouble, writeLong } from './avro-bytes.js'
import { codes, createToken, type JsonToken, standsAt } from './json-bytes.js'

/** Writes one value that is present as Avro; false where the validator has to look at it. */
export type WriteValue = (out: AvroBytes, json: Buffer, token: JsonToken) => boolean

/** A field of a record that is being read: where its value stands, and how it is written. */
export type FieldWriter = {
  isRequired: boolean
  write: WriteValue
  /** Whether it looks at each byte of a string, and takes no quote and no backslash. */
  looksAtEachByte: boolean
  token: JsonToken
}

export const createFieldWriter = (field: Field): FieldWriter => ({
  isRequired: field.required,
  write: createValueWriter(field),
  looksAtEachByte: field.kind !== 'text',
  token: createToken(),
})

// Most bytes that a field takes more in Avro than in JSON or CSV: a number of one digit takes nine.
const mostMorePerField = 10

/** Writes a record whose values stand within `length` bytes of `text`, from `out.start` on; false, with nothing written, where it cannot. */
export const writeRecord = (out: AvroBytes, text: Buffer, length: number, fields: readonly FieldWriter[]): boolean => {
  begin(out, length + mostMorePerField * fields.length)
  for (const { isRequired, token, write } of fields) {
    const isThere = token.kind !== 'absent' && token.kind !== 'null'
    // An optional value is a union of null and the value: the number of the branch comes first.
    if (!isRequired) out.bytes[out.at++] = isThere ? 2 : 0
    if (isThere ? write(out, text, token) : !isRequired) continue
    out.at = out.start
    return false
  }
  return true
}

/** Takes a part of what `createReader` takes, and writes what avsc would write of the value that it reads. */
const createValueWriter = (field: Field): WriteValue => {
  switch (field.kind) {
    case 'uuid':
    case 'reference':
    case 'item':
      return writeUuid
    case 'text':
      return createTextWriter(field)
    case 'country':
      return writeCountry
    case 'number':
      return createNumberWriter(field)
    case 'boolean':
      return writeBoolean
    case 'choice':
      return createChoiceWriter(field.of)
    case 'instant':
      return writeInstant
    case 'moment':
      return (out, json, token) => (token.kind === 'number' ? writeEpoch(out, token) : writeInstant(out, json, token))
    case 'date':
      return writeDate
    default:
      return field satisfies never
  }
}

const dash = 0x2d
// Hexadecimal digits as they are kept, in lower case; 0 for everything else.
const hexDigit = new Uint8Array(256)
for (const digit of '0123456789abcdef') {
  hexDigit[digit.charCodeAt(0)] = digit.charCodeAt(0)
  hexDigit[digit.toUpperCase().charCodeAt(0)] = digit.charCodeAt(0)
}
const uuidLength = 36

/** Copies this many hexadecimal digits in lower case; false where one of them is something else. */
const copyHex = (bytes: Buffer, at: number, json: Buffer, from: number, count: number): boolean => {
  for (let i = 0; i < count; i++) {
    const digit = hexDigit[json[from + i] as number] as number
    if (digit === 0) return false
    bytes[at + i] = digit
  }
  return true
}

const writeUuid: WriteValue = (out, json, { kind, from, to }) => {
  if (kind !== 'string' || to - from !== uuidLength) return false
  if (json[from + 8] !== dash || json[from + 13] !== dash || json[from + 18] !== dash || json[from + 23] !== dash)
    return false
  const { bytes } = out
  const at = out.at + 1
  bytes[at - 1] = 2 * uuidLength
  bytes[at + 8] = dash
  bytes[at + 13] = dash
  bytes[at + 18] = dash
  bytes[at + 23] = dash
  out.at = at + uuidLength
  return (
    copyHex(bytes, at, json, from, 8) &&
    copyHex(bytes, at + 9, json, from + 9, 4) &&
    copyHex(bytes, at + 14, json, from + 14, 4) &&
    copyHex(bytes, at + 19, json, from + 19, 4) &&
    copyHex(bytes, at + 24, json, from + 24, 12)
  )
}

const writeString = (out: AvroBytes, text: Uint8Array, from: number, to: number): void => {
  writeLong(out, to - from)
  writeBytes(out, text, from, to)
}

const createTextWriter = ({ required, longest = longestText }: { required: boolean; longest?: number }): WriteValue => {
  const isTaken = (text: Buffer, from: number, to: number): boolean =>
    (to - from <= longest || (to - from <= 4 * longest && charactersIn(text, from, to) <= longest)) &&
    !(required && isBlank(text, from, to))

  return (out, json, { kind, from, to }) => {
    if (kind === 'string') {
      if (!isTaken(json, from, to)) return false
      writeString(out, json, from, to)
      return true
    }
    if (kind !== 'escaped string') return false
    const { bytes, at } = out
    // The length comes first, and is known last. No escape sequence is shorter than what it stands for, so that the length
    // before the escapes are read takes at least as many bytes.
    writeLong(out, to - from)
    const start = out.at
    const end = readEscapes(json, from, to, bytes, start)
    if (end < 0 || !isTaken(bytes, start, end)) return false
    out.at = at
    writeLong(out, end - start)
    if (out.at < start) bytes.copyWithin(out.at, start, end)
    out.at += end - start
    return true
  }
}

// In UTF-8 a character has up to four bytes, and every one but the first begins with the bits 10.
const charactersIn = (text: Buffer, from: number, to: number): number => {
  let count = 0
  for (let at = from; at < to; at++) if (((text[at] as number) & 0xc0) !== 0x80) count++
  return count
}

const isBlank = (text: Buffer, from: number, to: number): boolean => {
  for (let at = from; at < to; at++) {
    const byte = text[at] as number
    if (byte > 0x20 && byte < 0x80) return false
  }
  // Of the characters beyond ASCII some are blanks too.
  return text.toString('utf8', from, to).trim() === ''
}

const letterU = 0x75
const unescaped = new Uint8Array(256)
for (const [letter, character] of Object.entries({ b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }))
  unescaped[letter.charCodeAt(0)] = character.charCodeAt(0)
for (const same of '"\\/') unescaped[same.charCodeAt(0)] = same.charCodeAt(0)

/** Puts what an escaped string stands for here; returns the place after it, or -1 where a sequence is no character. */
const readEscapes = (json: Buffer, from: number, to: number, text: Buffer, start: number): number => {
  let next = start
  for (let at = from; at < to; at++) {
    const byte = json[at] as number
    if (byte !== codes.backslash) {
      text[next++] = byte
      continue
    }
    const letter = json[++at] as number
    if (letter !== letterU) {
      const character = unescaped[letter] as number
      if (character === 0) return -1
      text[next++] = character
      continue
    }
    const character = characterAt(json, at - 1)
    if (character < 0) return -1
    at += character > 0xffff ? 10 : 4
    next = putCharacter(text, next, character)
  }
  return next
}

/** The character that `\uXXXX`, or a pair of these, stands for; -1 for NUL and for half a character. */
const characterAt = (json: Buffer, at: number): number => {
  const unit = hexAt(json, at + 2)
  if (unit < 0xd800 || unit > 0xdfff) return unit > 0 ? unit : -1
  const low = json[at + 6] === codes.backslash && json[at + 7] === letterU ? hexAt(json, at + 8) : -1
  if (unit > 0xdbff || low < 0xdc00 || low > 0xdfff) return -1
  return 0x10000 + (unit - 0xd800) * 0x400 + (low - 0xdc00)
}

/** Puts a character as UTF-8 here; returns the place after it. */
const putCharacter = (text: Buffer, at: number, character: number): number => {
  let next = at
  if (character < 0x80) {
    text[next++] = character
    return next
  }
  if (character < 0x800) text[next++] = 0xc0 | (character >> 6)
  else {
    if (character < 0x10000) text[next++] = 0xe0 | (character >> 12)
    else {
      text[next++] = 0xf0 | (character >> 18)
      text[next++] = 0x80 | ((character >> 12) & 0x3f)
    }
    text[next++] = 0x80 | ((character >> 6) & 0x3f)
  }
  text[next++] = 0x80 | (character & 0x3f)
  return next
}

/** The number that four hexadecimal digits stand for; -1 where they are none. */
const hexAt = (json: Buffer, from: number): number => {
  let value = 0
  for (let at = from; at < from + 4; at++) {
    const digit = hexDigit[json[at] as number] as number
    if (!(digit > 0)) return -1
    value = value * 16 + (digit <= codes.nine ? digit - codes.zero : digit - 0x61 + 10)
  }
  return value
}

const toUpper = ~0x20
const isUpper = (byte: number): boolean => byte >= 0x41 && byte <= 0x5a

// By their two letters, as one number.
const isCountry = new Uint8Array(256 * 256)
for (const code of countries) isCountry[code.charCodeAt(0) * 256 + code.charCodeAt(1)] = 1

const writeCountry: WriteValue = (out, json, { kind, from, to }) => {
  if (kind !== 'string' || to - from !== 2) return false
  const first = (json[from] as number) & toUpper
  const second = (json[from + 1] as number) & toUpper
  if (!isUpper(first) || !isUpper(second) || isCountry[first * 256 + second] !== 1) return false
  out.bytes[out.at++] = 2 * 2
  out.bytes[out.at++] = first
  out.bytes[out.at++] = second
  return true
}

const createNumberWriter = (field: Field): WriteValue => {
  const read = createReader(field)
  return (out, _json, { kind, number }) => {
    if (kind !== 'number' || typeof read(number) !== 'number') return false
    writeDouble(out, number)
    return true
  }
}

const writeBoolean: WriteValue = (out, _json, { kind }) => {
  if (kind !== 'true' && kind !== 'false') return false
  out.bytes[out.at++] = kind === 'true' ? 1 : 0
  return true
}

const createChoiceWriter = (of: readonly string[]): WriteValue => {
  const choices = of.map((choice) => Buffer.from(choice))
  return (out, json, { kind, from, to }) => {
    if (kind !== 'string') return false
    for (const choice of choices) {
      if (choice.length !== to - from || !standsAt(json, from, choice)) continue
      writeString(out, choice, 0, choice.length)
      return true
    }
    return false
  }
}

const writeEpoch = (out: AvroBytes, { number }: JsonToken): boolean => {
  const ms = readEpoch(number)
  if (typeof ms !== 'number') return false
  writeLong(out, ms)
  return true
}

const writeDate: WriteValue = (out, json, { kind, from, to }) => {
  if (kind !== 'string' || to - from !== 10) return false
  const days = dayAt(json, from)
  if (!withinYears(days * dayInMs)) return false
  writeLong(out, days)
  return true
}

const writeInstant: WriteValue = (out, json, { kind, from, to }) => {
  const ms = kind === 'string' ? instantAt(json, from, to) : Number.NaN
  if (!withinYears(ms)) return false
  writeLong(out, ms)
  return true
}

const dayInMs = 86_400_000

/** Milliseconds since 1970 of what most clients write: 2024-05-31T12:30:15, a fraction, a Z or +02:00. NaN for all else. */
const instantAt = (json: Buffer, from: number, to: number): number => {
  if (to - from < 19 || json[from + 10] !== 0x54 || json[from + 13] !== codes.colon || json[from + 16] !== codes.colon)
    return Number.NaN
  const hour = twoDigits(json, from + 11)
  const minute = twoDigits(json, from + 14)
  const second = twoDigits(json, from + 17)
  if (!(hour <= 23 && minute <= 59 && second <= 59)) return Number.NaN
  let at = from + 19
  let millisecond = 0
  if (json[at] === codes.dot) {
    const first = ++at
    for (let unit = 100; at < to && isDigit(json[at] as number); at++, unit = Math.floor(unit / 10))
      millisecond += ((json[at] as number) - codes.zero) * unit
    if (at === first || at - first > 9) return Number.NaN
  }
  const offset = offsetAt(json, at, to)
  return dayAt(json, from) * dayInMs + (hour * 60 + minute - offset) * 60_000 + second * 1000 + millisecond
}

/** The minutes that local time is ahead of UTC. */
const offsetAt = (json: Buffer, at: number, to: number): number => {
  if (at === to || (json[at] === 0x5a && at + 1 === to)) return 0
  const sign = json[at]
  if (at + 6 !== to || json[at + 3] !== codes.colon || (sign !== 0x2b && sign !== dash)) return Number.NaN
  const hours = twoDigits(json, at + 1)
  const minutes = twoDigits(json, at + 4)
  if (!(hours <= 23 && minutes <= 59)) return Number.NaN
  return sign === dash ? -(hours * 60 + minutes) : hours * 60 + minutes
}

const daysBeforeMonth = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365]

/** Days since 1970 of a real day in the form 2024-05-31. */
const dayAt = (json: Buffer, from: number): number => {
  if (json[from + 4] !== dash || json[from + 7] !== dash) return Number.NaN
  const year = twoDigits(json, from) * 100 + twoDigits(json, from + 2)
  const month = twoDigits(json, from + 5)
  const day = twoDigits(json, from + 8)
  if (!(month >= 1 && month <= 12 && day >= 1)) return Number.NaN
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  const before = daysBeforeMonth[month - 1] as number
  const inMonth = (daysBeforeMonth[month] as number) - before + (month === 2 && isLeap ? 1 : 0)
  if (day > inMonth) return Number.NaN
  const passed = year - 1
  const leapDays = Math.floor(passed / 4) - Math.floor(passed / 100) + Math.floor(passed / 400)
  return year * 365 + leapDays + before + (month > 2 && isLeap ? 1 : 0) + day - daysBefore1970
}

// What the sum above is for 1 January 1970.
const daysBefore1970 = 719_528

const isDigit = (byte: number): boolean => byte >= codes.zero && byte <= codes.nine

const twoDigits = (json: Buffer, at: number): number => {
  const tens = json[at] as number
  const ones = json[at + 1] as number
  return isDigit(tens) && isDigit(ones) ? (tens - codes.zero) * 10 + ones - codes.zero : Number.NaN
}
