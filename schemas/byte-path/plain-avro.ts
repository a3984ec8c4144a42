import { isUtf8 } from 'node:buffer'
import type { AvroField, AvroSchema } from '../derive/avro.js'

// Reads Avro as our own writers write it: each value in the one shortest form. Bytes that an Avro library would read but write
// in another way (a number with idle digits, text that is no UTF-8), and bytes that are cut off or damaged, are not plain.

/** Bytes, and how far they have been read. */
export type AvroSource = { readonly bytes: Buffer; at: number }

export type Read<T> = (source: AvroSource) => T

/** A general Avro library has to look at these bytes: it can read them, or can say why not. */
export class NotPlain extends Error {}

/** The bytes end before the value does, so that it cannot be read. */
export class CutOff extends Error {
  override message = 'truncated buffer'
}

/** Reads a value of this schema. */
export const createRead = (schema: AvroSchema): Read<unknown> => {
  if (Array.isArray(schema)) return createReadOptional(createRead(optionalOf(schema)))
  if (typeof schema === 'string') return readers[schema as keyof typeof readers] ?? unknownTo(schema)
  const { type } = schema
  if (type === 'record') return createReadRecord(schema.fields as AvroField[])
  if (type === 'array') return createReadArray(createRead(schema.items as AvroSchema))
  return createRead(type as AvroSchema)
}

/** Goes past a value of this schema, after the same checks: for the kinds of values that a record's fields have. */
export const createSkip = (schema: AvroSchema): Read<unknown> => {
  if (Array.isArray(schema)) return createReadOptional(createSkip(optionalOf(schema)))
  if (schema === 'string') return skipText
  if (schema === 'double') return skipDouble
  return createRead(schema)
}

/** How many items come next in an array; 0 at its end. An array may lie there in several blocks. */
export const readBlock = (source: AvroSource): number => {
  const count = readLong(source)
  if (count >= 0) return count
  // A block that says how many bytes it has, so that a reader may skip it.
  readLong(source)
  return -count
}

// JavaScript's numbers hold whole numbers exactly up to 2^53, and Avro doubles a number before it writes it.
const mostDigits = 2 * (Number.MAX_SAFE_INTEGER - 1)

/** Avro's zig-zag variable-length integer. */
export const readLong = (source: AvroSource): number => {
  const { bytes } = source
  const first = bytes[source.at++]
  if (first === undefined) throw new CutOff()
  if (first < 0x80) return (first >>> 1) ^ -(first & 1)
  const isNegative = (first & 1) === 1
  let digits = first & 0x7f
  for (let worth = 128; ; worth *= 128) {
    const byte = bytes[source.at++]
    if (byte === undefined) throw new CutOff()
    digits += (byte & 0x7f) * worth
    // A number never ends with a 0, unless that is all of it.
    if (byte === 0 || digits > (isNegative ? Number.MAX_SAFE_INTEGER : mostDigits)) throw new NotPlain()
    if (byte < 0x80) return isNegative ? -(digits + 1) / 2 : digits / 2
  }
}

export const readInt = (source: AvroSource): number => {
  const value = readLong(source)
  if (value !== (value | 0)) throw new NotPlain()
  return value
}

const readBoolean = (source: AvroSource): boolean => {
  const byte = source.bytes[source.at++]
  if (byte === 0 || byte === 1) return byte === 1
  throw byte === undefined ? new CutOff() : new NotPlain()
}

const skipDouble = (source: AvroSource): void => {
  source.at += 8
  if (source.at > source.bytes.length) throw new CutOff()
}

const readDouble = (source: AvroSource): number => {
  skipDouble(source)
  return source.bytes.readDoubleLE(source.at - 8)
}

const readBytes = (source: AvroSource): Buffer => {
  const length = readLength(source)
  const from = source.at
  source.at += length
  return source.bytes.subarray(from, source.at)
}

/** The length of what comes next; all of it is there. */
const readLength = (source: AvroSource): number => {
  const length = readLong(source)
  if (length < 0) throw new NotPlain()
  if (source.at + length > source.bytes.length) throw new CutOff()
  return length
}

const readText = (source: AvroSource): string => {
  const length = readLength(source)
  const from = source.at
  return source.bytes.toString(passText(source, length) ? 'latin1' : 'utf8', from, source.at)
}

const skipText = (source: AvroSource): unknown => passText(source, readLength(source))

/** Whether the text that comes next is all ASCII, which is read faster. */
const passText = (source: AvroSource, length: number): boolean => {
  const { bytes } = source
  const from = source.at
  const end = from + length
  source.at = end
  for (let at = from; at < end; at++) {
    if ((bytes[at] ?? 0) < 0x80) continue
    if (!isUtf8(bytes.subarray(at, end))) throw new NotPlain()
    return false
  }
  return true
}

const readers = {
  string: readText,
  bytes: readBytes,
  int: readInt,
  long: readLong,
  double: readDouble,
  boolean: readBoolean,
}

const unknownTo = (schema: string): never => {
  throw new Error(`no reader for Avro's ${schema}`)
}

/** Our optional fields are null or a value, in this order. */
const createReadOptional =
  <T>(read: Read<T>): Read<T | null> =>
  (source) => {
    const branch = source.bytes[source.at++]
    if (branch === 0) return null
    if (branch === 2) return read(source)
    throw branch === undefined ? new CutOff() : new NotPlain()
  }

const optionalOf = ([none, value, ...others]: AvroSchema[]): AvroSchema => {
  if (none !== 'null' || value === undefined || others.length > 0)
    throw new Error('a union that is not null or a value')
  return value
}

const createReadRecord = (fields: readonly AvroField[]): Read<Record<string, unknown>> => {
  const reads = fields.map(({ name, type }) => ({ name, read: createRead(type) }))
  return (source) => {
    const values: Record<string, unknown> = {}
    for (const { name, read } of reads) values[name] = read(source)
    return values
  }
}

const createReadArray =
  <T>(read: Read<T>): Read<T[]> =>
  (source) => {
    const items: T[] = []
    for (let left = readBlock(source); left > 0; left = readBlock(source)) {
      for (; left > 0; left--) items.push(read(source))
    }
    return items
  }
