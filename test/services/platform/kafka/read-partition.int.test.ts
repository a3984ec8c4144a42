import { randomUUID } from 'node:crypto'
import { Kafka as PlainClient } from 'kafkajs'
import { pino } from 'pino'
import { beforeAll, expect, it } from 'vitest'
import { createKafka, type PartitionReader } from '#platform/kafka/kafka.js'
import { eventually } from '../../../support/eventually.js'
import { sharedParts } from '../../../support/shared-parts.js'

const brokers = sharedParts.KAFKA_BROKERS
const log = pino({ level: 'silent' })
const kafka = createKafka({ brokers, clientId: 'read-partition-test', log })
const topic = `read-partition-${randomUUID()}`
const transactional = `read-partition-${randomUUID()}`
const plain = new PlainClient({ brokers: brokers.split(','), clientId: 'read-partition-test', logLevel: 0 })

const from = (first: number, until: number) => Array.from({ length: until - first }, (_, i) => first + i)
const reading = <T>(partition: number, work: (reader: PartitionReader) => Promise<T>, of = topic) =>
  kafka.withPartitionReader({ topic: of, partition, ms: 30_000 }, work)
const readAll = (partition: number, first: number, of = topic) =>
  reading(
    partition,
    async ({ read }) => {
      const keys: (string | null)[] = []
      let next = first
      for (let part = await read(next); part; part = await read(next)) {
        keys.push(...part.messages.map(({ key }) => key))
        next = part.next
      }
      return { keys, next }
    },
    of,
  )

beforeAll(async () => {
  await kafka.withAdmin((admin) =>
    admin.createTopics({
      topics: [
        { topic, numPartitions: 3 },
        { topic: transactional, numPartitions: 1 },
      ],
    }),
  )
  const producer = await kafka.createProducer()
  // Nothing in partition 2.
  for (const partition of [0, 1])
    for (let n = 0; n < 1000; n += 250)
      await producer.send(
        topic,
        partition,
        from(n, n + 250).map((key) => ({ key: String(key), value: Buffer.alloc(2000, String(key)) })),
      )
  await producer.close()
})

it('reads from an offset to the end, which it tells at once', async () => {
  expect(await readAll(1, 0)).toEqual({ keys: from(0, 1000).map(String), next: 1000 })
  expect(await readAll(0, 731)).toEqual({ keys: from(731, 1000).map(String), next: 1000 })
  expect(await readAll(2, 0)).toEqual({ keys: [], next: 0 })
})

it('tells the first offset from a moment on', async () => {
  await reading(0, async ({ offsetAt, read }) => {
    expect(await offsetAt(0)).toBe(0)
    const third = (await read(500))?.messages[0]
    const found = await offsetAt(third?.timestamp ?? 0)
    // Several sends may have the same millisecond.
    expect(from(0, 501)).toContain(found)
    expect((await read(found ?? -1))?.messages[0]?.timestamp).toBe(third?.timestamp)
    expect(await offsetAt(Date.now() + 3_600_000)).toBeUndefined()
  })
  expect(await reading(2, ({ offsetAt }) => offsetAt(0))).toBeUndefined()
})

it('passes over the ends of transactions, and over those that were given up', async () => {
  const producer = plain.producer({ transactionalId: randomUUID(), maxInFlightRequests: 1, idempotent: true })
  await producer.connect()
  for (const [key, isGivenUp] of [
    ['a', false],
    ['b', true],
    ['c', false],
  ] as const) {
    const transaction = await producer.transaction()
    await transaction.send({ topic: transactional, messages: [{ key, value: key }] })
    await (isGivenUp ? transaction.abort() : transaction.commit())
  }
  await producer.disconnect()
  expect(await readAll(0, 0, transactional)).toEqual({ keys: ['a', 'c'], next: 6 })
})

it('fails once its time is over, and where there is nothing to read from', async () => {
  const never = kafka.withPartitionReader({ topic, partition: 0, ms: 200 }, () => new Promise(() => {}))
  await expect(never).rejects.toThrow('more than 200 ms')
  await expect(reading(9, ({ read }) => read(0))).rejects.toThrow()
  await expect(reading(0, ({ read }) => read(5_000))).rejects.toThrow()
  const away = createKafka({ brokers: '127.0.0.1:1', clientId: 'read-partition-test', log })
  await expect(away.withPartitionReader({ topic, partition: 0, ms: 20_000 }, ({ read }) => read(0))).rejects.toThrow()
})

it('reads single messages, however far apart, for as long as it is open, and passes over those that are gone', async () => {
  const reader = kafka.createLogReader()
  const keysAt = async (offsets: number[], partition = 0) =>
    [...(await reader.messagesAt({ topic, partition }, offsets))].map(([offset, { key }]) => [offset, key])
  expect(await keysAt([3, 4, 5, 250, 999, 3])).toEqual([3, 4, 5, 250, 999].map((n) => [n, String(n)]))
  expect(await keysAt([7], 1)).toEqual([[7, '7']])
  // Beyond the end, and in a partition that is empty.
  expect(await keysAt([999, 1000, 5000])).toEqual([[999, '999']])
  expect(await keysAt([0, 1], 2)).toEqual([])
  // Kafka knows the end of what is deleted only where its leader was asked before.
  await kafka.withAdmin(async (admin) => {
    await admin.fetchTopicOffsets(topic)
    await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '400' }] })
  })
  await eventually(async () =>
    expect(await keysAt([3, 250, 399, 400, 401])).toEqual([400, 401].map((n) => [n, String(n)])),
  )
  await reader.close()
  // Opened again by the next question.
  expect(await keysAt([500])).toEqual([[500, '500']])
  await reader.close()
  await expect(kafka.createLogReader().messagesAt({ topic: 'no-such-topic', partition: 0 }, [0])).rejects.toThrow(
    'Kafka did not give 1 messages of no-such-topic/0',
  )
})
