import { randomBytes, randomUUID } from 'node:crypto'
import { CompressionTypes, type IHeaders, Kafka as Kafkajs, logLevel, Partitioners } from 'kafkajs'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { createKafka, type Received } from '#platform/kafka/kafka.js'
import type { Producer } from '#platform/kafka/producer.js'
import { readTopics, stretchesOf } from '#platform/kafka/read-topics.js'
import { createTopics } from '../../../../support/create-topics.js'
import { eventually } from '../../../../support/eventually.js'
import { sharedParts } from '../../../../support/shared-parts.js'

// Our record batches and kafkajs's, each read by the other, through a real broker.
const brokers = sharedParts.KAFKA_BROKERS
const kafka = createKafka({ brokers, clientId: 'wire-test', log: pino({ level: 'silent' }) })
const kafkajs = new Kafkajs({ brokers: brokers.split(','), logLevel: logLevel.NOTHING })
const partitions = 3
let producer: Producer
let topic = ''

beforeAll(async () => {
  producer = await kafka.createProducer()
})
afterAll(() => producer.close())
beforeEach(async () => {
  topic = `wire-${randomUUID()}`
  await createTopics(kafka, { topic, numPartitions: partitions })
})

const readByUs = async (): Promise<(Received & { partition: number })[]> => {
  const read: (Received & { partition: number })[] = []
  await readTopics(kafka, await stretchesOf(kafka, [topic]), async ({ partition, messages }) => {
    read.push(...messages.map((message) => ({ ...message, partition })))
  })
  return read
}

/** What kafkajs reads, with nothing of ours in between. */
const readByKafkajs = async (count: number) => {
  const read: { key: string | undefined; value: Buffer | null; offset: string }[] = []
  const consumer = kafkajs.consumer({ groupId: `wire-${randomUUID()}`, maxWaitTimeInMs: 100 })
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  await consumer.run({
    eachMessage: async ({ message: { key, value, offset } }) => void read.push({ key: key?.toString(), value, offset }),
  })
  try {
    await eventually(() => expect(read.length).toBeGreaterThanOrEqual(count))
  } finally {
    await consumer.disconnect()
  }
  return read
}

it('writes what kafkajs reads, and reads it itself', async () => {
  const messages = [
    { key: 'k', value: Buffer.from('small, so not packed') },
    { key: '', value: Buffer.alloc(0) },
    { key: 'zażółć 👩‍🚀', value: Buffer.from('𝛑') },
    { key: 'x'.repeat(5000), value: Buffer.alloc(5000, 'weir') },
    ...Array.from({ length: 3000 }, (_, n) => ({ key: `key ${n}`, value: Buffer.from(`value ${n}`) })),
    // More than one send holds, and nothing that could be packed.
    ...Array.from({ length: 5 }, () => ({ key: 'large', value: randomBytes(400_000) })),
  ]
  const before = Date.now()
  // Alone and small, together and packed at once, and beside the event loop.
  await producer.send(topic, 1, messages.slice(0, 3))
  await producer.send(topic, 1, messages.slice(3, 4))
  await producer.send(topic, 1, messages.slice(4))
  const expected = messages.map(({ key, value }, offset) => ({ key, value: value.toString('base64'), offset }))
  const theirs = (await readByKafkajs(messages.length)).map(({ key, value, offset }) => ({
    key,
    value: value?.toString('base64'),
    offset: Number(offset),
  }))
  expect(theirs).toEqual(expected)
  const ours = await readByUs()
  expect(ours.map(({ key, value, offset }) => ({ key, value: value?.toString('base64'), offset }))).toEqual(expected)
  expect(ours.every(({ timestamp }) => timestamp >= before - 1000 && timestamp <= Date.now() + 1000)).toBe(true)
})

it('reads what kafkajs writes: packed or not, without a key or a value, with headers, of any time', async () => {
  const theirs = kafkajs.producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await theirs.connect()
  const headers: IHeaders = { trace: 'abc', twice: ['1', '2'] }
  const messages = [
    { partition: 2, key: null, value: Buffer.from('no key'), headers, timestamp: '1700000005000' },
    { partition: 2, key: 'gone', value: null, headers: {}, timestamp: '1700000001000' },
    { partition: 2, key: 'empty', value: Buffer.alloc(0), headers: {}, timestamp: '1700000002000' },
    { partition: 2, key: '👩‍🚀', value: Buffer.alloc(100_000, 'x'), headers, timestamp: '1700000009000' },
  ]
  for (const compression of [CompressionTypes.None, CompressionTypes.GZIP])
    await theirs.send({ topic, compression, messages })
  await theirs.disconnect()
  const expected = [...messages, ...messages].map(({ partition, key, value, timestamp }, offset) => ({
    partition,
    key,
    value: value?.toString() ?? null,
    timestamp: Number(timestamp),
    offset,
  }))
  expect((await readByUs()).map(({ value, ...rest }) => ({ ...rest, value: value?.toString() ?? null }))).toEqual(
    expected,
  )
})

it('reads nothing of a transaction that was given up, and goes on behind it', async () => {
  const theirs = kafkajs.producer({
    createPartitioner: Partitioners.DefaultPartitioner,
    transactionalId: `wire-${randomUUID()}`,
    idempotent: true,
    maxInFlightRequests: 1,
  })
  await theirs.connect()
  const inTransaction = async (value: string, end: 'commit' | 'abort') => {
    const transaction = await theirs.transaction()
    await transaction.send({ topic, messages: [{ partition: 0, key: 'k', value }] })
    await transaction[end]()
  }
  // The coordinator writes the end of a transaction a moment after it has answered.
  const isEnded = (offset: number) =>
    eventually(async () =>
      expect(await stretchesOf(kafka, [topic])).toContainEqual({ topic, partition: 0, from: 0, until: offset }),
    )
  const read = async () => (await readByUs()).map(({ value, offset }) => [offset, String(value)])
  await inTransaction('given up', 'abort')
  await isEnded(2)
  // Nothing to hand over, and yet it ends.
  expect(await read()).toEqual([])
  await inTransaction('kept', 'commit')
  await isEnded(4)
  // The last message is not the last offset.
  expect(await read()).toEqual([[2, 'kept']])
  await theirs.disconnect()
  await producer.send(topic, 0, [{ key: 'k', value: Buffer.from('ours') }])
  expect(await read()).toEqual([
    [2, 'kept'],
    [4, 'ours'],
  ])
})

it('keeps each of many sends that are under way at once, small and large', async () => {
  const sends = Array.from({ length: 400 }, (_, n) => ({ partition: n % partitions, n, large: n % 50 === 0 }))
  await Promise.all(
    sends.map(({ partition, n, large }) =>
      producer.send(topic, partition, [
        { key: String(n), value: Buffer.alloc(large ? 100_000 : 50, 'x') },
        { key: String(n), value: Buffer.from('second') },
      ]),
    ),
  )
  const read = await readByUs()
  const keysOf = (partition: number) =>
    read.filter((each) => each.partition === partition).map(({ key }) => Number(key))
  for (let partition = 0; partition < partitions; partition++) {
    const keys = keysOf(partition)
    const sent = sends.filter((each) => each.partition === partition).map(({ n }) => n)
    // Each once, and the messages of one send beside each other.
    expect(keys.filter((_, at) => at % 2 === 0).toSorted((a, b) => a - b)).toEqual(sent)
    expect(keys.filter((_, at) => at % 2 === 1)).toEqual(keys.filter((_, at) => at % 2 === 0))
  }
})

it('gives up at the deadline where there is no such topic or partition, and takes it once it is there', async () => {
  const absent = `absent-${randomUUID()}`
  const message = { key: 'k', value: Buffer.from('v') }
  const soon = () => ({ deadline: performance.now() + 1_500 })
  await expect(producer.send(absent, 0, [message], soon())).rejects.toThrow(
    `Kafka did not take 1 messages for ${absent}/0`,
  )
  // On a busy machine the last try may be cut off by the deadline.
  const why = new RegExp(`Kafka has no partition ${partitions} of ${topic}|no answer within`)
  await expect(producer.send(topic, partitions, [message], soon())).rejects.toMatchObject({
    cause: { message: expect.stringMatching(why) },
  })
  await createTopics(kafka, { topic: absent })
  await producer.send(absent, 0, [message])
})
