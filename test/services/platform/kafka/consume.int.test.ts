import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { Kafka, logLevel } from 'kafkajs'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { committedOffsets } from '#platform/kafka/committed-offsets.js'
import { type ConsumeOptions, type Consumer, createKafka, type Fetch } from '#platform/kafka/kafka.js'
import { placeOf } from '#platform/kafka/partitions.js'
import type { Producer } from '#platform/kafka/producer.js'
import { createTopics } from '../../../support/create-topics.js'
import { eventually } from '../../../support/eventually.js'
import { itDeep } from '../../../support/it-deep.js'
import { sharedParts } from '../../../support/shared-parts.js'

const kafka = createKafka({
  brokers: sharedParts.KAFKA_BROKERS,
  clientId: 'consume-test',
  log: pino({ level: 'silent' }),
})
let groupId = ''
let producer: Producer
const opened: Consumer[] = []
const crashes: Error[] = []

beforeEach(async () => {
  groupId = `consume-${randomUUID()}`
  producer = await kafka.createProducer()
})
afterEach(async () => {
  for (const consumer of opened.splice(0)) await consumer.close()
  await producer.close()
  expect(crashes).toEqual([])
})

const newTopic = async (numPartitions: number): Promise<string> => {
  const topic = `consume-${randomUUID()}`
  await createTopics(kafka, { topic, numPartitions })
  return topic
}
const consume = async (
  topics: string[],
  onFetch: (fetch: Fetch) => Promise<void>,
  options: Partial<ConsumeOptions> = {},
): Promise<Consumer> => {
  const crash = (error: Error) => crashes.push(error)
  const consumer = await kafka.consume({ groupId, topics, fromBeginning: true, onFetch, crash, ...options })
  opened.push(consumer)
  return consumer
}
const send = (topic: string, partition: number, ...texts: string[]) =>
  producer.send(
    topic,
    partition,
    texts.map((text) => ({ key: text, value: Buffer.from(text) })),
  )
/** Texts that are packed to a hundredth and less, in record batches of 400 KB. */
const pileUp = async (topic: string, batches: number) => {
  const value = Buffer.alloc(400, 'x')
  for (let n = 0; n < batches; n++)
    await producer.send(
      topic,
      0,
      Array.from({ length: 1000 }, () => ({ key: 'k', value })),
    )
}
const membersOf = () =>
  kafka.withAdmin(async (admin) => {
    const { groups } = await admin.describeGroups([groupId])
    return groups.flatMap(({ members }) => members.map(({ memberId }) => memberId)).sort()
  })

it('hands over only so much at once, however well it is packed, and all of it once and in order', async () => {
  const topic = await newTopic(1)
  await pileUp(topic, 40)
  const offsets: number[] = []
  const sizes: number[] = []
  const onFetch = async ({ messages }: Fetch) => {
    offsets.push(...messages.map(({ offset }) => offset))
    sizes.push(messages.reduce((sum, { value }) => sum + (value?.length ?? 0), 0))
  }
  await consume([topic], onFetch, { bytesPerFetch: 1_000_000 })
  await eventually(() => expect(offsets).toHaveLength(40_000), 60_000)
  expect(offsets).toEqual(Array.from({ length: 40_000 }, (_, i) => i))
  // Three record batches: the third exceeds the bound.
  expect(Math.max(...sizes)).toBe(1_200_000)
})

it('lets topics take turns while one of them catches up', async () => {
  const [large, small] = [await newTopic(1), await newTopic(1)]
  await pileUp(large, 40)
  await send(small, 0, 'a')
  const order: string[] = []
  const onFetch = async ({ topic }: Fetch) => {
    order.push(topic)
  }
  await consume([large, small], onFetch, { bytesPerFetch: 1_000_000 })
  await eventually(() => expect(order.filter((topic) => topic === large).length).toBeGreaterThan(12), 60_000)
  expect(order.indexOf(small)).toBeGreaterThanOrEqual(0)
  expect(order.indexOf(small)).toBeLessThan(order.lastIndexOf(large))
})

it('tries a partition that fails again by itself, from where it stopped, while the others go on', async () => {
  const topic = await newTopic(2)
  const seen: string[][] = [[], []]
  let isBroken = true
  let tries = 0
  await consume([topic], async ({ partition, messages }) => {
    if (partition === 0) tries++
    if (partition === 0 && isBroken) throw new TypeError('the table is gone')
    seen[partition]?.push(...messages.map(({ value }) => String(value)))
  })
  await send(topic, 0, 'a', 'b')
  await eventually(() => expect(tries).toBeGreaterThan(1), 30_000)
  const members = await membersOf()
  await send(topic, 0, 'c')
  for (let n = 0; n < 20; n++) {
    await send(topic, 1, String(n))
    await eventually(() => expect(seen[1]?.at(-1)).toBe(String(n)), 5_000)
    await wait(100)
  }
  const committed = await committedOffsets(kafka, [{ groupId, topics: [topic] }])
  expect(committed).toMatchObject([{ partition: 1 }])
  expect(seen[0]).toEqual([])
  isBroken = false
  await eventually(() => expect(seen[0]).toEqual(['a', 'b', 'c']), 15_000)
  expect(await membersOf()).toEqual(members)
})

it('lets a partition that hangs hold up no other, and gives it to nobody else before its work has ended', async () => {
  const topic = await newTopic(2)
  const events: string[] = []
  let release = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  const handler =
    (name: string) =>
    async ({ partition, messages }: Fetch) => {
      for (const { value } of messages) {
        if (String(value) === 'hang' && name === 'first') await released
        events.push(`${partition} ${value} ${name}`)
      }
    }
  await consume([topic], handler('first'))
  await send(topic, 0, 'hang')
  await wait(4_000)
  await send(topic, 0, 'after')
  await send(topic, 1, 'a')
  await eventually(() => expect(events).toEqual(['1 a first']), 10_000)

  await consume([topic], handler('second'))
  await wait(5_000)
  expect(events).toEqual(['1 a first'])
  release()
  await eventually(() => expect(events).toHaveLength(3), 30_000)
  expect(events.slice(1)).toEqual(['0 hang first', expect.stringContaining('0 after ')])
  await eventually(async () => expect(await membersOf()).toHaveLength(2), 30_000)
  await send(topic, 0, 'later')
  await send(topic, 1, 'later')
  await eventually(() => expect(events).toHaveLength(5), 30_000)
  expect(new Set(events.slice(3).map((event) => event.split(' ')[2]))).toEqual(new Set(['first', 'second']))
})

it('closes once the work under way has ended, with its offsets committed', async () => {
  const topic = await newTopic(1)
  let isBusy = false
  const consumer = await consume([topic], async () => {
    isBusy = true
    await wait(3_000)
    isBusy = false
  })
  await send(topic, 0, 'a')
  await eventually(() => expect(isBusy).toBe(true))
  await wait(2_500)
  await consumer.close()
  expect(isBusy).toBe(false)
  expect(await committedOffsets(kafka, [{ groupId, topics: [topic] }])).toMatchObject([{ offset: 1 }])
})

/** Consumers of one group that hand over nothing, and what each of them has. */
const openMembers = (topics: string[]) => {
  const has: Set<string>[] = []
  const members: Consumer[] = []
  const join = async () => {
    const mine = new Set<string>()
    has.push(mine)
    const onAssigned = (assigned: { topic: string; partition: number }[]) => {
      mine.clear()
      for (const place of assigned) mine.add(placeOf(place))
    }
    members.push(await consume(topics, async () => {}, { onAssigned }))
  }
  const leave = async (n: number) => {
    await members[n]?.close()
    has[n]?.clear()
  }
  /** Waits until the members have so many each, and all partitions once. */
  const untilShared = (...counts: number[]) =>
    eventually(() => {
      expect(has.map(({ size }) => size)).toEqual(counts)
      expect(new Set(has.flatMap((mine) => [...mine])).size).toBe(counts.reduce((sum, count) => sum + count, 0))
    })
  const snapshot = () => has.map((mine) => new Set(mine))
  return { has, join, leave, untilShared, snapshot }
}
const keptOf = (before: Set<string> | undefined, now: Set<string> | undefined) =>
  [...(now ?? [])].filter((place) => before?.has(place)).length

it('shares each topic evenly, and leaves members what they had when others come and go', async () => {
  const topics = [await newTopic(4), await newTopic(4), await newTopic(4)]
  const { has, join, leave, untilShared, snapshot } = openMembers(topics)
  await join()
  await untilShared(12)
  await join()
  await untilShared(6, 6)
  for (const mine of has)
    for (const topic of topics) expect([...mine].filter((place) => place.startsWith(`${topic}/`))).toHaveLength(2)
  const two = snapshot()
  await join()
  await join()
  await untilShared(3, 3, 3, 3)
  const four = snapshot()
  expect([keptOf(two[0], four[0]), keptOf(two[1], four[1])]).toEqual([3, 3])
  await leave(1)
  await leave(3)
  await untilShared(6, 0, 6, 0)
  expect([keptOf(four[0], has[0]), keptOf(four[2], has[2])]).toEqual([3, 3])
})

itDeep('is in one group with members of a version that knows only the old way of sharing', async () => {
  const topic = await newTopic(4)
  const { join, untilShared } = openMembers([topic])
  const client = new Kafka({ brokers: sharedParts.KAFKA_BROKERS.split(','), logLevel: logLevel.NOTHING })
  const old = client.consumer({ groupId, sessionTimeout: 10_000 })
  try {
    await old.connect()
    await old.subscribe({ topics: [topic] })
    await old.run({ eachMessage: async () => {} })
    await join()
    await untilShared(2)
    await join()
    await eventually(async () => expect(await membersOf()).toHaveLength(3), 60_000)
  } finally {
    await old.disconnect()
  }
  await untilShared(2, 2)
})

it('moves a group to offsets of several topics at once, and only while it has no members', async () => {
  const topics = [await newTopic(2), await newTopic(2)]
  const places = topics.flatMap((topic) => [0, 1].map((partition) => ({ topic, partition })))
  for (const { topic, partition } of places) await send(topic, partition, 'a', 'b', 'c')
  const seen: string[] = []
  const note = async (fetch: Fetch) =>
    void seen.push(...fetch.messages.map(({ offset }) => `${placeOf(fetch)} ${offset}`))
  const reader = await consume(topics, note)
  await eventually(() => expect(seen).toHaveLength(12))
  const back = places.map((place) => ({ ...place, offset: String(1 + place.partition) }))
  await expect(kafka.moveGroup(groupId, back)).rejects.toThrow('has members')
  await reader.close()
  await kafka.moveGroup(groupId, back)
  seen.length = 0
  await consume(topics, note)
  const expected = topics.flatMap((topic) => [`${topic}/0 1`, `${topic}/0 2`, `${topic}/1 2`])
  await eventually(() => expect(seen.toSorted()).toEqual(expected.toSorted()))
})
