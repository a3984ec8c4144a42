import { createRequire } from 'node:module'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import '#platform/kafka/kafka.js'
import { adjustBrokers } from '#platform/kafka/brokers.js'

// The real encoder and decoder of kafkajs, which are not among its exports.
const load = createRequire(import.meta.url)
const { RecordBatch } = load('kafkajs/src/protocol/recordBatch/v0')
const Record = load('kafkajs/src/protocol/recordBatch/record/v0')
const Encoder = load('kafkajs/src/protocol/encoder')
const Decoder = load('kafkajs/src/protocol/decoder')
const decodeMessages = load('kafkajs/src/protocol/requests/fetch/v4/decodeMessages')

const gzip = 1
const kilobyte = 1024

/** What Kafka has of a partition: so many record batches of ten messages, each of a kilobyte that repeats itself. */
const partitionOf = async (batches: number): Promise<Buffer> => {
  const all = new Encoder()
  for (let n = 0; n < batches; n++) {
    const records = Array.from({ length: 10 }, (_, i) =>
      Record({ offsetDelta: i, key: 'k', value: Buffer.alloc(kilobyte, 'x'), headers: {} }),
    )
    all.writeEncoder(await RecordBatch({ compression: gzip, firstOffset: n * 10, lastOffsetDelta: 9, records }))
  }
  return all.buffer
}

/** A cluster of one broker, whose fetch decodes as kafkajs does. */
const openCluster = (partitions: readonly Buffer[]) => {
  const groupCalls: string[] = []
  const waits: unknown[] = []
  const broker = {
    fetch: async (request: { maxWaitTime?: number }) => {
      waits.push(request.maxWaitTime)
      // An answer comes from the network, some time after it was asked for.
      await turn()
      const answers: { offset: string; value: Buffer }[][] = []
      for (const partition of partitions)
        answers.push(await decodeMessages(new Decoder(new Encoder().writeBytes(partition).buffer)))
      return answers.map((messages) => messages.map(({ offset }) => Number(offset)))
    },
    joinGroup: async () => groupCalls.push('join'),
    leaveGroup: async () => groupCalls.push('leave'),
  }
  const cluster = { findBroker: async () => broker }
  return { cluster, groupCalls, waits }
}
type AnyCluster = Parameters<typeof adjustBrokers>[0]
const numbers = (count: number) => Array.from({ length: count }, (_, i) => i)

it('unpacks no more than the bound, and the record batch that exceeds it', async () => {
  const { cluster } = openCluster([await partitionOf(8), await partitionOf(8)])
  expect(await (await cluster.findBroker()).fetch({})).toEqual([numbers(80), numbers(80)])
  const deps = { bytesPerFetch: 25 * kilobyte, longestWait: () => 100, beforeGroupChange: async () => {} }
  adjustBrokers(cluster as unknown as AnyCluster, deps)
  const broker = await cluster.findBroker()
  // Each fetch has the same room, also beside another one.
  for (const fetched of [...(await Promise.all([broker.fetch({}), broker.fetch({})])), await broker.fetch({})])
    expect(fetched).toEqual([numbers(30), []])
})

it('unpacks the first record batch of a fetch however large it is', async () => {
  const { cluster } = openCluster([await partitionOf(3)])
  adjustBrokers(cluster as unknown as AnyCluster, {
    bytesPerFetch: 1,
    longestWait: () => 100,
    beforeGroupChange: async () => {},
  })
  expect(await (await cluster.findBroker()).fetch({})).toEqual([numbers(10)])
})

it('joins and leaves a group only after what has to happen before', async () => {
  const { cluster, groupCalls } = openCluster([])
  let release = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  adjustBrokers(cluster as unknown as AnyCluster, {
    bytesPerFetch: 1,
    longestWait: () => 100,
    beforeGroupChange: () => released,
  })
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
  const { cluster, waits } = openCluster([])
  let longest = 500
  const deps = { bytesPerFetch: 1, longestWait: () => longest, beforeGroupChange: async () => {} }
  adjustBrokers(cluster as unknown as AnyCluster, deps)
  const broker = await cluster.findBroker()
  await broker.fetch({ maxWaitTime: 300 })
  longest = 100
  await broker.fetch({ maxWaitTime: 300 })
  expect(waits).toEqual([300, 100])
})
