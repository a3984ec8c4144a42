import { promisify } from 'node:util'
import { gunzip, gunzipSync, gzip, gzipSync } from 'node:zlib'
import type { Message } from '../producer.js'
import { crc32c } from './crc32c.js'

// Kafka's record batches (message format 2, of all brokers since 0.11), encoded and decoded straight. kafkajs makes several
// objects for each field: 7 to 8 µs a message to encode and 0.65 to decode, where this takes 0.6 and 0.35; gzip comes on top.

export type Received = {
  offset: number
  timestamp: number
  key: string | null
  /** Null on a compacted topic says that the key has nothing any more. */
  value: Buffer | null
  /** The header of this name, where the message belongs to a trace that is recorded. */
  traceparent?: string
}

export type Valued = Received & { value: Buffer }

export const hasValue = <Message extends Pick<Received, 'value'>>(
  message: Message,
): message is Message & { value: Buffer } => message.value !== null

/** Everything of a record batch before its records. */
type BatchHeader = {
  /** How many bytes of the log the batch is, header included. */
  size: number
  firstOffset: number
  /** Compaction may have removed the last records; the offset of the last one stays. */
  lastOffset: number
  attributes: number
  firstTimestamp: number
  maxTimestamp: number
  producerId: number
  count: number
}

/** One record batch, packed where that saves more than it costs; a megabyte is encoded in 5 ms, and packed beside the event loop. */
export const encodeBatch = async (messages: readonly Message[], timestamp: number): Promise<Buffer> => {
  const plain = encodeRecords(messages)
  if (plain.length - headerSize < packedFrom) return writeHeader(plain, { messages, timestamp, attributes: 0 })
  const packed = await pack(plain.subarray(headerSize))
  const batch = Buffer.allocUnsafe(headerSize + packed.length)
  packed.copy(batch, headerSize)
  return writeHeader(batch, { messages, timestamp, attributes: gzipCodec })
}

/** The header of the batch that begins at `at`; undefined where the answer ends before the batch does. */
export const readHeader = (log: Buffer, at: number): BatchHeader | undefined => {
  if (at + headerSize > log.length) return undefined
  const size = places.length + 4 + log.readInt32BE(at + places.length)
  if (size < headerSize) throw new DamagedBatch(`a record batch of ${size} bytes`)
  if (at + size > log.length) return undefined
  const magic = log.readInt8(at + places.magic)
  if (magic !== 2) throw new DamagedBatch(`message format ${magic}; Weir reads format 2, which Kafka writes since 0.11`)
  // Kafka checks it when a batch arrives, but not when it reads the batch from its disk for us.
  if (crc32c(log, at + places.attributes, at + size) !== log.readUInt32BE(at + places.crc))
    throw new DamagedBatch('the checksum of a record batch is wrong')
  const firstOffset = readInt64(log, at)
  return {
    size,
    firstOffset,
    lastOffset: firstOffset + log.readInt32BE(at + places.lastOffsetDelta),
    attributes: log.readInt16BE(at + places.attributes),
    firstTimestamp: readInt64(log, at + places.firstTimestamp),
    maxTimestamp: readInt64(log, at + places.maxTimestamp),
    producerId: readInt64(log, at + places.producerId),
    count: log.readInt32BE(at + places.count),
  }
}

export const isControl = ({ attributes }: BatchHeader): boolean => (attributes & 0x20) !== 0
export const isTransactional = ({ attributes }: BatchHeader): boolean => (attributes & 0x10) !== 0

/** The records of the batch that begins at `at`, unpacked. Their values are views on these bytes. */
export const unpackRecords = async (log: Buffer, at: number, header: BatchHeader): Promise<Buffer> => {
  // Compaction leaves the header of a batch of which no record is left.
  if (header.count <= 0) return Buffer.alloc(0)
  const records = log.subarray(at + headerSize, at + header.size)
  const codec = header.attributes & 0x07
  if (codec === 0) return records
  if (codec === gzipCodec) return unpack(records)
  throw new DamagedBatch(
    `${codecNames[codec] ?? 'unknown'} compression; Weir reads gzip and none: have it sent as one of them`,
  )
}

/** Adds to `into` the records of a batch whose offset is at least `from`. Headers of records other than `traceparent` are passed over. */
export const readRecords = (records: Buffer, header: BatchHeader, from: number, into: Received[]): void => {
  const isAppendTime = (header.attributes & 0x08) !== 0
  let at = 0
  const varint = (): number => {
    let byte = records[at++] as number
    let raw = byte & 0x7f
    for (let scale = 128; byte & 0x80; scale *= 128) {
      byte = records[at++] as number
      raw += (byte & 0x7f) * scale
    }
    if (raw < 0x80000000) return (raw >>> 1) ^ -(raw & 1)
    return raw % 2 === 0 ? raw / 2 : -(raw + 1) / 2
  }
  for (let n = 0; n < header.count; n++) {
    const length = varint()
    const end = at + length
    at++
    const timestampDelta = varint()
    const offset = header.firstOffset + varint()
    const keyLength = varint()
    const keyAt = at
    if (keyLength > 0) at += keyLength
    const valueLength = varint()
    const valueAt = at
    if (valueLength > 0) at += valueLength
    // Beyond the end everything reads as 0, so that one look at the end of each record is enough.
    const isInside = at <= end && end <= records.length && offset >= header.firstOffset && offset <= header.lastOffset
    // A length of -1 means that there is no key, or no value.
    if (!isInside || keyLength < -1 || valueLength < -1)
      throw new DamagedBatch('a record does not fit into its record batch')
    // The number of headers is the last byte of a record without any, which nearly all are.
    const traceparent = at + 1 < end ? traceparentIn(records, at, end) : undefined
    at = end
    if (offset < from) continue
    const received: Received = {
      offset,
      timestamp: isAppendTime ? header.maxTimestamp : header.firstTimestamp + timestampDelta,
      key: keyLength < 0 ? null : records.toString('utf8', keyAt, keyAt + keyLength),
      value: valueLength < 0 ? null : records.subarray(valueAt, valueAt + valueLength),
    }
    if (traceparent !== undefined) received.traceparent = traceparent
    into.push(received)
  }
  if (at !== records.length) throw new DamagedBatch('a record batch holds more than its records')
}

const traceHeader = Buffer.from('traceparent')
const traceHeaderLength = 55
/** The header as Weir and every other producer write it: both lengths are below 64, so each takes a byte. */
const traceHeaderStart = Buffer.from([traceHeader.length << 1, ...traceHeader, traceHeaderLength << 1])

/** Handed on to others, so it has to be one, and of a trace that is recorded. */
const traceparentPattern = /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/

const traceparentIn = (records: Buffer, from: number, end: number): string | undefined => {
  const headers = records.subarray(from, end)
  const found = headers.indexOf(traceHeaderStart)
  if (found === -1) return undefined
  const at = found + traceHeaderStart.length
  const value = headers.toString('latin1', at, at + traceHeaderLength)
  return traceparentPattern.test(value) ? value : undefined
}

/** Bytes that are no record batch, or none that can be read here. Nothing of them is handed over, and nothing is skipped. */
export class DamagedBatch extends Error {}

export const readInt64 = (bytes: Buffer, at: number): number => {
  const value = bytes.readInt32BE(at) * 2 ** 32 + bytes.readUInt32BE(at + 4)
  if (!Number.isSafeInteger(value)) throw new DamagedBatch('a number beyond 2^53')
  return value
}

/** Where a batch has what, in bytes from its beginning. The first eight are the offset of its first record. */
const places = {
  length: 8,
  leaderEpoch: 12,
  magic: 16,
  crc: 17,
  attributes: 21,
  lastOffsetDelta: 23,
  firstTimestamp: 27,
  maxTimestamp: 35,
  producerId: 43,
  producerEpoch: 51,
  firstSequence: 53,
  count: 57,
}
const headerSize = 61

const gzipCodec = 1
const codecNames: readonly (string | undefined)[] = [undefined, undefined, 'snappy', 'lz4', 'zstd']

/** The records, after as many bytes as the header takes. */
const encodeRecords = (messages: readonly Message[]): Buffer => {
  let most = headerSize
  // A character takes at most three bytes of UTF-8; the numbers of a record at most 24.
  for (const { key, value, traceparent } of messages)
    most += 3 * key.length + (value?.length ?? 0) + 24 + (traceparent ? traceHeaderSize : 0)
  const bytes = Buffer.allocUnsafe(most)
  let at = headerSize
  const varint = (value: number): void => {
    let left = value << 1
    for (; left > 0x7f; left >>>= 7) bytes[at++] = (left & 0x7f) | 0x80
    bytes[at++] = left
  }
  for (const [index, { key, value, traceparent }] of messages.entries()) {
    const headersSize = traceparent ? traceHeaderSize : 0
    const keyLength = isAscii(key) ? key.length : Buffer.byteLength(key)
    // Attributes, the difference of the timestamp and the number of headers take a byte each; the first two are 0.
    const valueSize = value ? sizeOf(value.length) + value.length : 1
    varint(3 + sizeOf(index) + sizeOf(keyLength) + keyLength + valueSize + headersSize)
    bytes[at++] = 0
    bytes[at++] = 0
    varint(index)
    varint(keyLength)
    if (keyLength > key.length) bytes.write(key, at)
    else for (let n = 0; n < keyLength; n++) bytes[at + n] = key.charCodeAt(n)
    at += keyLength
    if (value) {
      varint(value.length)
      bytes.set(value, at)
      at += value.length
    } else bytes[at++] = noValue
    bytes[at++] = traceparent ? 2 : 0
    if (!traceparent) continue
    at += traceHeaderStart.copy(bytes, at)
    at += bytes.write(traceparent, at, traceHeaderLength, 'latin1')
  }
  return bytes.subarray(0, at)
}

/** A length of -1, as a varint. */
const noValue = 1

const traceHeaderSize = traceHeaderStart.length + traceHeaderLength

const isAscii = (text: string): boolean => {
  for (let n = 0; n < text.length; n++) if (text.charCodeAt(n) > 0x7f) return false
  return true
}

/** How many bytes a number from 0 on takes as a varint. */
const sizeOf = (value: number): number =>
  value < 0x40 ? 1 : value < 0x2000 ? 2 : value < 0x100000 ? 3 : value < 0x8000000 ? 4 : 5

const writeHeader = (
  batch: Buffer,
  { messages, timestamp, attributes }: { messages: readonly Message[]; timestamp: number; attributes: number },
): Buffer => {
  // -1 where the broker fills in something, or where only a transaction would have something.
  batch.fill(0xff, 0, headerSize)
  batch.writeBigInt64BE(0n, 0)
  batch.writeInt32BE(batch.length - places.length - 4, places.length)
  batch.writeInt8(2, places.magic)
  batch.writeInt16BE(attributes, places.attributes)
  batch.writeInt32BE(messages.length - 1, places.lastOffsetDelta)
  batch.writeBigInt64BE(BigInt(timestamp), places.firstTimestamp)
  batch.writeBigInt64BE(BigInt(timestamp), places.maxTimestamp)
  batch.writeInt32BE(messages.length, places.count)
  batch.writeUInt32BE(crc32c(batch, places.attributes, batch.length), places.crc)
  return batch
}

// CPU of packing 1 kB: 20 µs at once, 60 beside the event loop; unpacking half of that. Below, it would save a disk block at most.
const packedFrom = 1024
const atOnceUpTo = 16 * 1024
// At zlib's fastest: the default level cost integrity 8 µs CPU a record more, of 56. And with a window of 4 KiB, which stays in the
// processor's nearest memory: 3.6 µs a transaction instead of 5.7, for as few bytes, since what repeats in records is near.
const fastest = { level: 1, windowBits: 12 }
/** What is packed is hardly larger than this share of what it was, so zlib need not join chunks of 16 KiB. */
const packedShare = 0.6

// Made once: to make one takes 6 µs.
const [gzipAside, gunzipAside] = [promisify(gzip), promisify(gunzip)]

const pack = (records: Buffer): Buffer | Promise<Buffer> => {
  const options = { ...fastest, chunkSize: Math.max(1024, Math.ceil(packedShare * records.length)) }
  return records.length <= atOnceUpTo ? gzipSync(records, options) : gzipAside(records, options)
}

const mostUnpackedInOneChunk = 8 * 1024 * 1024

const unpack = (packed: Buffer): Buffer | Promise<Buffer> => {
  // gzip ends with the unpacked size. With a chunk of that size, zlib need not join chunks of 16 KiB: half the CPU.
  const size = packed.length < 18 ? 0 : packed.readUInt32LE(packed.length - 4)
  const chunkSize = Math.max(64, Math.min(size + 1, mostUnpackedInOneChunk))
  return size <= atOnceUpTo ? gunzipSync(packed, { chunkSize }) : gunzipAside(packed, { chunkSize })
}
