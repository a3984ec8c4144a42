import { setImmediate as turn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { adjustBrokers } from '#platform/kafka/brokers.js'
import { brokerOf, type Call, Encoder, gzip, kafkajsBatch } from './wire/kafkajs-codec.js'

const kilobyte = 1024
const topic = 'shops'

/** What Kafka has of a partition: so many record batches of ten messages, each of a kilobyte that repeats itself. */
const partitionOf = async (batches: number): Promise<Buffer> => {
  const messages = Array.from({ length: 10 }, () => ({ key: 'k', value: Buffer.alloc(kilobyte, 'x') }))
  const all = Array.from({ length: batches }, (_, n) =>
    kafkajsBatch(messages, { compression: gzip, firstOffset: n * 10 }),
  )
  return Buffer.concat(await Promise.all(all))
}

type Fetched = { responses: { partitions: { messages: { received: { offset: number }[] }[] }[] }[] }

/** A cluster of one broker of kafkajs, whose connection gives these partitions for an answer. */
const openCluster = (partitions: readonly Buffer[]) => {
  const groupCalls: string[] = []
  const waits: number[] = []
  const send = async ({ request, response }: Call) => {
    waits.push((await request.encode()).buffer.readInt32BE(4))
    // An answer comes from the network, some time after it was asked for.
    await turn()
    const encoded = partitions.map((log, partition) =>
      new Encoder()
        .writeInt32(partition)
        .writeInt16(0)
        .writeInt64(100)
        .writeInt64(100)
        .writeInt64(0)
        .writeInt32(0)
        .writeInt32(-1)
        .writeBytes(log),
    )
    const answer = new Encoder().writeInt32(0).writeInt16(0).writeInt32(0)
    answer.writeArray([new Encoder().writeString(topic).writeArray(encoded)])
    return response.parse(await response.decode(answer.buffer))
  }
  const broker = brokerOf(send)
  broker.joinGroup = async () => groupCalls.push('join')
  broker.leaveGroup = async () => groupCalls.push('leave')
  const cluster = { findBroker: async () => broker }
  const fetch = async (maxWaitTime = 100): Promise<number[][]> => {
    const asked = partitions.map((_, partition) => ({ partition, fetchOffset: '0', maxBytes: 1 }))
    const request = { maxWaitTime, topics: [{ topic, partitions: asked }] }
    const { responses }: Fetched = await (await cluster.findBroker()).fetch(request)
    const all = responses.flatMap((response) => response.partitions)
    return all.map(({ messages }) => messages.flatMap(({ received }) => received.map(({ offset }) => offset)))
  }
  return { cluster, groupCalls, waits, fetch }
}
type AnyCluster = Parameters<typeof adjustBrokers>[0]
const usual = { bytesPerFetch: 1, inSession: true, longestWait: () => 100, beforeGroupChange: async () => {} }
const numbers = (count: number) => Array.from({ length: count }, (_, i) => i)

it('unpacks no more than the bound, and the record batch that exceeds it', async () => {
  const { cluster, fetch } = openCluster([await partitionOf(8), await partitionOf(8)])
  const deps = { ...usual, bytesPerFetch: 25 * kilobyte }
  adjustBrokers(cluster as unknown as AnyCluster, deps)
  // Each fetch has the same room, also beside another one: one partition fills it, and no partition is always the last one.
  const all = await Promise.all([fetch(), fetch()])
  while (all.length < 40) all.push(await fetch())
  for (const fetched of all) expect(fetched.toSorted((a, b) => a.length - b.length)).toEqual([[], numbers(30)])
  expect(new Set(all.map(([first]) => first?.length))).toEqual(new Set([0, 30]))
})

it('unpacks the first record batch of a fetch however large it is', async () => {
  const { cluster, fetch } = openCluster([await partitionOf(3)])
  adjustBrokers(cluster as unknown as AnyCluster, usual)
  expect(await fetch()).toEqual([numbers(10)])
})

it('unpacks all where there is room', async () => {
  const { cluster, fetch } = openCluster([await partitionOf(8), await partitionOf(8)])
  const deps = { ...usual, bytesPerFetch: 1024 * kilobyte }
  adjustBrokers(cluster as unknown as AnyCluster, deps)
  expect(await fetch()).toEqual([numbers(80), numbers(80)])
})

it('joins and leaves a group only after what has to happen before', async () => {
  const { cluster, groupCalls } = openCluster([])
  let release = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  adjustBrokers(cluster as unknown as AnyCluster, { ...usual, beforeGroupChange: () => released })
  // Found again and again, adjusted once.
  await cluster.findBroker()
  const broker = await cluster.findBroker()
  const both = Promise.all([broker.joinGroup(), broker.leaveGroup()])
  await turn()
  expect(groupCalls).toEqual([])
  release()
  await both
  expect(groupCalls).toEqual(['join', 'leave'])
})

it('lets Kafka hold a fetch back only for as long as there is time', async () => {
  const { cluster, waits, fetch } = openCluster([])
  let longest = 500
  adjustBrokers(cluster as unknown as AnyCluster, { ...usual, longestWait: () => longest })
  await fetch(300)
  longest = 100
  await fetch(300)
  expect(waits).toEqual([300, 100])
})

it('looks for another coordinator where its own cannot write', async () => {
  const { cluster } = openCluster([])
  const away = Object.assign(new Error('not available'), { type: 'GROUP_COORDINATOR_NOT_AVAILABLE' })
  const broken = Object.assign(new Error('cut'), { name: 'KafkaJSConnectionError' })
  const broker = await cluster.findBroker()
  Object.assign(broker, { heartbeat: () => Promise.reject(away), offsetCommit: () => Promise.reject(broken) })
  adjustBrokers(cluster as unknown as AnyCluster, usual)
  await cluster.findBroker()
  await expect(broker.heartbeat({})).rejects.toMatchObject({ type: 'NOT_COORDINATOR_FOR_GROUP' })
  await expect(broker.offsetCommit({})).rejects.toBe(broken)
})

it('sends a commit that came to the wrong broker to the coordinator, once', async () => {
  const moved = Object.assign(new Error('moved'), { type: 'NOT_COORDINATOR_FOR_GROUP' })
  const commits: string[] = []
  const brokerOf = (name: string) => ({
    fetch: () => {},
    offsetCommit: async () => {
      commits.push(name)
      if (name !== right) throw moved
    },
    ...Object.fromEntries(['joinGroup', 'leaveGroup', 'syncGroup', 'heartbeat'].map((call) => [call, async () => {}])),
  })
  const brokers = new Map(['a', 'b'].map((name) => [name, brokerOf(name)]))
  let right = 'a'
  let said = 'a'
  const cluster = {
    findBroker: async (name: string) => brokers.get(name),
    findGroupCoordinator: () => cluster.findBroker(said),
  }
  adjustBrokers(cluster as unknown as AnyCluster, usual)
  const commit = (await cluster.findBroker('a'))?.offsetCommit as (request: unknown) => Promise<unknown>
  await commit({ groupId: 'g' })
  right = said = 'b'
  await commit({ groupId: 'g' })
  expect(commits).toEqual(['a', 'a', 'b'])
  // Nobody is, or the one that is asked still thinks that it is this one.
  right = 'none'
  await expect(commit({ groupId: 'g' })).rejects.toBe(moved)
  said = 'a'
  await expect(commit({ groupId: 'g' })).rejects.toBe(moved)
  expect(commits).toEqual(['a', 'a', 'b', 'a', 'b', 'a'])
})
