import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { beforeAll, expect, it } from 'vitest'
import { createKafka } from '#platform/kafka/kafka.js'
import { readTopics, stretchesOf } from '#platform/kafka/read-topics.js'
import { eventually } from '../../../support/eventually.js'
import { sharedParts } from '../../../support/shared-parts.js'

const kafka = createKafka({
  brokers: sharedParts.KAFKA_BROKERS,
  clientId: 'read-topics-test',
  log: pino({ level: 'silent' }),
})
const topic = `read-topics-${randomUUID()}`

beforeAll(async () => {
  await kafka.withAdmin((admin) => admin.createTopics({ topics: [{ topic, numPartitions: 3 }] }))
  const producer = await kafka.createProducer()
  for (let n = 0; n < 3000; n += 100) {
    // Nothing in partition 2.
    for (const partition of [0, 1]) {
      const messages = Array.from({ length: 100 }, (_, i) => ({
        key: String(n + i),
        value: Buffer.from(String(n + i)),
      }))
      await producer.send(topic, partition, messages)
    }
  }
  await producer.close()
})

const read = async (stretches: Awaited<ReturnType<typeof stretchesOf>>) => {
  const seen: Record<number, number[]> = {}
  await readTopics(kafka, stretches, async ({ partition, messages }) => {
    seen[partition] ??= []
    seen[partition].push(...messages.map(({ offset }) => offset))
  })
  return seen
}
const from = (first: number, until: number) => Array.from({ length: until - first }, (_, i) => first + i)

it('reads all there is, once and in order', async () => {
  const stretches = await stretchesOf(kafka, [topic])
  expect(stretches.map(({ from: first, until }) => [first, until]).sort()).toEqual([
    [0, 0],
    [0, 3000],
    [0, 3000],
  ])
  expect(await read(stretches)).toEqual({ 0: from(0, 3000), 1: from(0, 3000) })
})

it('reads a stretch from its middle', async () => {
  expect(await read([{ topic, partition: 1, from: 1234, until: 2345 }])).toEqual({ 1: from(1234, 2345) })
})

it('reads nothing where nothing is wanted, since a moment that is yet to come', async () => {
  expect(await read(await stretchesOf(kafka, [topic], Date.now() + 60_000))).toEqual({})
})

it('passes a failure on, and leaves no group behind', async () => {
  const failing = readTopics(kafka, await stretchesOf(kafka, [topic]), async () => {
    throw new Error('enough')
  })
  await expect(failing).rejects.toThrow('enough')
  const readers = async () => {
    const { groups } = await kafka.withAdmin((admin) => admin.listGroups())
    return groups.map(({ groupId }) => groupId).filter((groupId) => groupId.startsWith('weir-reader-'))
  }
  // Tests beside this one have readers too, which come and go.
  const found = await readers()
  await eventually(async () => expect((await readers()).filter((groupId) => found.includes(groupId))).toEqual([]))
})
