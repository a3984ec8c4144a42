import fc from 'fast-check'
import { expect, it } from 'vitest'
import { crc32c } from '#platform/kafka/wire/crc32c.js'
import {
  DamagedBatch,
  encodeBatch,
  type Received,
  readHeader,
  readRecords,
  unpackRecords,
} from '#platform/kafka/wire/record-batch.js'
import {
  appendTime,
  gzip,
  kafkajsBatch,
  kafkajsHeaders,
  kafkajsRead,
  shown,
  withAttributes,
  withChecksum,
} from './kafkajs-codec.js'

// kafkajs's own encoder and decoder are the reference: what either of them writes, the other has to read.

const read = async (log: Buffer, from = 0): Promise<ReturnType<typeof shown>[]> => {
  const received: Received[] = []
  for (let at = 0; ; ) {
    const header = readHeader(log, at)
    if (!header) return received.map(shown)
    readRecords(await unpackRecords(log, at, header), header, from, received)
    at += header.size
  }
}

// 'binary' has characters of one to four bytes of UTF-8; half a pair of surrogates is written as U+FFFD by everybody.
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'binary-ascii', maxLength: 300, size: 'max' }),
  fc.constant('\ud83d'),
)
const bytes = fc.oneof(
  { weight: 4, arbitrary: fc.uint8Array({ maxLength: 200 }).map((all) => Buffer.from(all)) },
  // Long enough for batches that are packed at once, and beside the event loop.
  { weight: 1, arbitrary: fc.integer({ min: 1000, max: 40_000 }).map((size) => Buffer.alloc(size, 'weir ')) },
)
const message = fc.record({ key: text, value: fc.option(bytes) })
const time = fc.integer({ min: 0, max: 4e12 })

const foreign = fc.record({
  key: fc.option(fc.oneof(text, bytes)),
  value: fc.option(bytes),
  timestampDelta: fc.integer({ min: -4e12, max: 4e12 }),
  headers: fc.dictionary(fc.string({ minLength: 1 }), fc.string(), { maxKeys: 3 }),
})
const place = fc.record({
  compression: fc.constantFrom(0, gzip),
  firstOffset: fc.oneof(fc.nat(), fc.integer({ min: 2 ** 40, max: 2 ** 52 })),
  firstTimestamp: fc.integer({ min: 4e12, max: 8e12 }),
})

it('knows the checksum that everybody else has', () => {
  const of = (text: string) => crc32c(Buffer.from(text), 0, Buffer.byteLength(text))
  // The check value of CRC-32C's definition, and a text longer than eight bytes that is not a multiple of eight.
  expect(of('123456789')).toBe(0xe3069283)
  expect(of('')).toBe(0)
  expect(crc32c(Buffer.from('..123456789..'), 2, 11)).toBe(0xe3069283)
})

it('writes what kafkajs reads, and reads it itself', () =>
  fc.assert(
    fc.asyncProperty(fc.array(message, { minLength: 1, maxLength: 100 }), time, async (messages, timestamp) => {
      const batch = await encodeBatch(messages, timestamp)
      const expected = messages
        .map(({ key, value }, offset) => ({
          offset,
          timestamp,
          key: Buffer.from(key).toString(),
          value,
        }))
        .map(shown)
      expect(await kafkajsRead(batch)).toEqual(expected)
      expect(await read(batch)).toEqual(expected)
    }),
  ))

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

it('sends the header of a recorded trace, which kafkajs reads, and no other byte', async () => {
  const plain = { key: 'k', value: Buffer.from('v') }
  const batch = await encodeBatch([plain, { ...plain, traceparent }, plain], 5)
  expect(await kafkajsHeaders(batch)).toEqual([{}, { traceparent }, {}])
  expect((await read(batch)).map((received) => received.traceparent)).toEqual([undefined, traceparent, undefined])
  expect(await encodeBatch([{ ...plain, traceparent: undefined }], 5)).toEqual(await encodeBatch([plain], 5))
})

it('finds the header of a recorded trace among others, and takes nothing else for it', async () => {
  const headersOf: Record<string, string>[] = [
    { a: 'b', traceparent, z: '' },
    { traceparent: traceparent.replace(/01$/, '00') },
    { traceparent: traceparent.replace('b7', 'B7') },
    { traceparent: 'x' },
    { other: 'traceparent' },
    {},
  ]
  const messages = headersOf.map((headers) => ({ key: 'k', value: Buffer.from('v'), headers }))
  for (const compression of [0, gzip]) {
    const found = (await read(await kafkajsBatch(messages, { compression }))).map((each) => each.traceparent)
    expect(found).toEqual([traceparent, ...Array(5).fill(undefined)])
  }
})

it('packs what is worth it', async () => {
  const codecOf = async (value: Buffer) => readHeader(await encodeBatch([{ key: 'k', value }], 0), 0)?.attributes
  expect(await codecOf(Buffer.alloc(900))).toBe(0)
  expect(await codecOf(Buffer.alloc(1100))).toBe(gzip)
  expect(await codecOf(Buffer.alloc(1_000_000))).toBe(gzip)
})

it('reads what kafkajs writes as kafkajs does: several batches, any time, no key, no value, headers', () =>
  fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.array(foreign, { maxLength: 20 }), place), { maxLength: 4 }), async (all) => {
      const log = Buffer.concat(await Promise.all(all.map(([messages, where]) => kafkajsBatch(messages, where))))
      // kafkajs looks for the format of a log that is empty.
      expect(await read(log)).toEqual(log.length === 0 ? [] : await kafkajsRead(log))
    }),
  ))

it('takes the time at which the broker appended, where the topic says so', async () => {
  const messages = [1, 2].map((timestampDelta) => ({ key: 'k', value: Buffer.from('v'), timestampDelta }))
  const log = withAttributes(await kafkajsBatch(messages, { firstTimestamp: 5 }), appendTime)
  const received = await read(log)
  expect(received).toEqual(await kafkajsRead(log))
  expect(received[0]?.timestamp).toBe(received[1]?.timestamp)
})

it('leaves out what was not asked for', () =>
  fc.assert(
    fc.asyncProperty(fc.array(foreign, { maxLength: 20 }), fc.nat(25), async (messages, from) => {
      const log = await kafkajsBatch(messages, { compression: gzip })
      expect(await read(log, from)).toEqual((await read(log)).slice(from))
    }),
  ))

it('passes over a batch that is cut off at the end of an answer', () =>
  fc.assert(
    fc.asyncProperty(fc.array(message, { minLength: 1, maxLength: 5 }), fc.nat(), async (messages, seed) => {
      const batch = await encodeBatch(messages, 0)
      const whole = await read(batch)
      expect(await read(Buffer.concat([batch, batch.subarray(0, seed % batch.length)]))).toEqual(whole)
    }),
  ))

it('hands over nothing of a batch that is damaged', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(foreign, { minLength: 1, maxLength: 5 }),
      place,
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      async (messages, where, seed, flipped) => {
        const batch = await kafkajsBatch(messages, where)
        // The offset and the leader's epoch are filled in by the broker, and not part of the checksum.
        const at = 8 + (seed % (batch.length - 8))
        fc.pre(at < 12 || at >= 16)
        batch[at] = (batch[at] ?? 0) ^ flipped
        // A length that became longer looks like a batch that was cut off.
        expect(await read(batch).catch(() => [])).toEqual([])
      },
    ),
  ))

it('trusts no length in a batch, even where the checksum is right', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(foreign, { minLength: 1, maxLength: 5 }),
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      async (messages, seed, flipped) => {
        const batch = await kafkajsBatch(messages)
        const at = 57 + (seed % (batch.length - 57))
        batch[at] = (batch[at] ?? 0) ^ flipped
        const count = batch.readInt32BE(57)
        const received = await read(withChecksum(batch)).catch((error: Error) => error)
        if (received instanceof Error) expect(received).toBeInstanceOf(DamagedBatch)
        else expect(received).toHaveLength(Math.max(0, count))
      },
    ),
  ))

it('says what it cannot read', async () => {
  const batch = await kafkajsBatch([{ key: 'k', value: Buffer.from('v') }])
  await expect(read(withAttributes(batch, 4))).rejects.toThrow('zstd compression; Weir reads gzip and none')
  batch.writeInt8(1, 16)
  await expect(read(batch)).rejects.toThrow('message format 1')
})

it('reads a batch of which compaction left no record', async () => {
  for (const compression of [0, gzip]) expect(await read(await kafkajsBatch([], { compression }))).toEqual([])
})
