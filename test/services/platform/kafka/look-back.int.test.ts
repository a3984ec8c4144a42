import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createKafka, type Fetch } from '#platform/kafka/kafka.js'
import { createTopics } from '../../../support/create-topics.js'
import { eventually } from '../../../support/eventually.js'
import { sharedParts } from '../../../support/shared-parts.js'

const log = pino({ level: 'silent' })
const kafka = createKafka({ brokers: sharedParts.KAFKA_BROKERS, clientId: 'look-back-test', log })
let producer: Awaited<ReturnType<typeof kafka.createProducer>>
beforeAll(async () => {
  producer = await kafka.createProducer()
})
afterAll(() => producer.close())

/** A topic of its own, and consumers of one group that come one after another. */
const newTopic = async () => {
  const topic = `look-back-${randomUUID()}`
  await createTopics(kafka, { topic, numPartitions: 1 })
  const send = async (...values: string[]) => {
    for (const value of values) await producer.send(topic, 0, [{ key: 'k', value: Buffer.from(value) }])
  }
  const consumeUntil = async (last: string, onFetch: (fetch: Fetch) => Promise<void> = async () => {}) => {
    const seen: { before?: string; values: string[] }[] = []
    const consumer = await kafka.consume({
      groupId: topic,
      topics: [topic],
      fromBeginning: true,
      looksBack: true,
      onFetch: async (fetch) => {
        const values = fetch.messages.map(({ value }) => String(value))
        seen.push({ ...(fetch.before && { before: String(fetch.before.value) }), values })
        await onFetch(fetch)
      },
      crash: () => {},
    })
    await eventually(() => expect(seen.flatMap(({ values }) => values)).toContain(last))
    // Closing waits for the commit.
    await consumer.close()
    return seen
  }
  return { topic, send, consumeUntil }
}

it('brings the message before the first fetch apart from the others, which come once', async () => {
  const { send, consumeUntil } = await newTopic()
  await send('a', 'b')
  const first = await consumeUntil('b')
  expect(first.flatMap(({ values }) => values)).toEqual(['a', 'b'])
  expect(first.every(({ before }) => before === undefined)).toBe(true)
  await send('c', 'd')
  const second = await consumeUntil('d')
  expect(second[0]?.before).toBe('b')
  expect(second.slice(1).every(({ before }) => before === undefined)).toBe(true)
  expect(second.flatMap(({ values }) => values)).toEqual(['c', 'd'])
})

it('brings it again where the first fetch failed', async () => {
  const { send, consumeUntil } = await newTopic()
  await send('a')
  await consumeUntil('a')
  await send('b')
  let failures = 0
  const seen = await consumeUntil('c', async () => {
    if (failures++ === 0) {
      await send('c')
      throw new Error('Postgres is away')
    }
  })
  expect(seen.slice(0, 2).map(({ before }) => before)).toEqual(['a', 'a'])
  expect(seen.slice(1).flatMap(({ values }) => values)).toEqual(['b', 'c'])
})

it('does without where the log no longer has that message', async () => {
  const { topic, send, consumeUntil } = await newTopic()
  await send('a', 'b')
  await consumeUntil('b')
  await kafka.withAdmin(async (admin) => {
    // kafkajs deletes only from topics that it has been asked about before.
    await admin.fetchTopicOffsets(topic)
    await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '2' }] })
  })
  await send('c')
  expect((await consumeUntil('c')).flatMap(({ before, values }) => [before, ...values])).toEqual([undefined, 'c'])
})
