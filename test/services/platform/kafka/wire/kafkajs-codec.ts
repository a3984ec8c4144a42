import { createRequire } from 'node:module'
import { crc32c } from '#platform/kafka/wire/crc32c.js'
import type { Received } from '#platform/kafka/wire/record-batch.js'

// The real encoder and decoder of kafkajs, which are not among its exports.
const load = createRequire(import.meta.url)
const { RecordBatch } = load('kafkajs/src/protocol/recordBatch/v0')
const Record = load('kafkajs/src/protocol/recordBatch/record/v0')
const decodeMessages = load('kafkajs/src/protocol/requests/fetch/v4/decodeMessages')
export const Encoder = load('kafkajs/src/protocol/encoder')
export const Decoder = load('kafkajs/src/protocol/decoder')
const Broker = load('kafkajs/src/broker')
const { lookup } = load('kafkajs/src/protocol/requests')

/** A request that kafkajs sends, and how it reads the answer. */
export type Call = {
  request: { apiVersion: number; encode: () => Promise<{ buffer: Buffer }> }
  response: { decode: (answer: Buffer) => Promise<unknown>; parse: (decoded: unknown) => Promise<unknown> }
}

/** A broker of kafkajs whose connection is `send`, for a Kafka that knows fetches up to this version. */
export const brokerOf = (send: (call: Call) => Promise<unknown>, maxVersion = 17) => {
  const logger = { namespace: () => logger }
  const broker = new Broker({ connectionPool: { send }, logger })
  broker.lookupRequest = lookup({ 1: { minVersion: 4, maxVersion } })
  return broker
}

export type KafkajsMessage = {
  key: Buffer | string | null
  value: Buffer | null
  timestampDelta?: number
  headers?: Record<string, string>
}
type BatchOptions = {
  compression?: number
  firstOffset?: number
  firstTimestamp?: number
  transactional?: boolean
  producerId?: number
}

export const gzip = 1
export const control = 0x20
export const appendTime = 0x08

/** A record batch as kafkajs writes it. */
export const kafkajsBatch = async (
  messages: readonly KafkajsMessage[],
  options: BatchOptions = {},
): Promise<Buffer> => {
  const records = messages.map((message, offsetDelta) => Record({ headers: {}, ...message, offsetDelta }))
  const batch = await RecordBatch({ firstTimestamp: 0, ...options, records, lastOffsetDelta: records.length - 1 })
  return batch.buffer
}

/** The same batch with these attributes in addition, and the checksum that goes with them. */
export const withAttributes = (batch: Buffer, attributes: number): Buffer => {
  const changed = Buffer.from(batch)
  changed.writeInt16BE(changed.readInt16BE(21) | attributes, 21)
  return withChecksum(changed)
}

export const withChecksum = (batch: Buffer): Buffer => {
  batch.writeUInt32BE(crc32c(batch, 21, batch.length), 17)
  return batch
}

/** What kafkajs reads in a stretch of a log, in our words. */
export const kafkajsRead = async (log: Buffer) => {
  const messages: KafkajsRead[] = await decodeMessages(new Decoder(new Encoder().writeBytes(log).buffer))
  return messages.map((message) => shown(inOurWords(message)))
}

/** The headers of each message, as kafkajs reads them. */
export const kafkajsHeaders = async (log: Buffer): Promise<Record<string, string>[]> => {
  const messages: KafkajsRead[] = await decodeMessages(new Decoder(new Encoder().writeBytes(log).buffer))
  return messages.map(({ headers }) =>
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.toString()])),
  )
}

type KafkajsRead = {
  offset: string
  timestamp: string
  key: Buffer | null
  value: Buffer | null
  headers: Record<string, Buffer>
}

export const inOurWords = ({ offset, timestamp, key, value }: Omit<KafkajsRead, 'headers'>) => ({
  offset: Number(offset),
  timestamp: Number(timestamp),
  key: key?.toString() ?? null,
  value,
})

/** To compare: buffers would be compared byte by byte, which takes seconds. */
export const shown = ({ value, ...rest }: Received) => ({ ...rest, value: value?.toString('base64') ?? null })
