import type { Cluster } from 'kafkajs'
import { adjustBrokers } from '../brokers.js'
import { counted, countedFrom } from '../partitions.js'
import { type ClientWith, createOwnCluster } from './cluster.js'
import type { decodeFetchAnswer } from './fetch-answer.js'
import type { Received } from './record-batch.js'
import type { OpenSocket } from './socket.js'

/** Reads a partition here and there, by offsets. It is in no group, and leaves no trace in Kafka. */
export type PartitionReader = {
  /** The offset of the first message that is not older than this moment (in milliseconds); undefined where there is none. */
  offsetAt: (time: number) => Promise<number | undefined>
  /** What one fetch brings, and the offset behind all that it read, ends of transactions too. Undefined at the end. */
  read: (from: number) => Promise<{ messages: Received[]; next: number } | undefined>
}

// At the partition's end Kafka holds the answer back for this long.
const longestWait = 100
const bytesPerFetch = 1024 * 1024

/** Connects, does the work, and hangs up; after `ms` at the latest, when whatever is under way fails. */
export const withPartitionReader = async <T>(
  clientWith: ClientWith,
  open: OpenSocket,
  { topic, partition, ms }: { topic: string; partition: number; ms: number },
  work: (reader: PartitionReader) => Promise<T>,
): Promise<T> => {
  const { cluster, reset } = createOwnCluster<Cluster>(clientWith, open)
  adjustBrokers(cluster, {
    bytesPerFetch,
    inSession: false,
    longestWait: () => longestWait,
    beforeGroupChange: async () => {},
  })
  let timer: NodeJS.Timeout | undefined
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Kafka was read for more than ${ms} ms`)), ms)
  })
  const connectAndWork = async (): Promise<T> => {
    await cluster.connect()
    await cluster.addTargetTopic(topic)
    const done = await work(readerOf(cluster, topic, partition))
    await cluster.disconnect()
    return done
  }
  try {
    return await Promise.race([connectAndWork(), tooLate])
  } catch (error) {
    reset()
    throw error
  } finally {
    clearTimeout(timer)
  }
}

type FetchAnswer = Awaited<ReturnType<typeof decodeFetchAnswer>>

const readerOf = (cluster: Cluster, topic: string, partition: number): PartitionReader => ({
  offsetAt: async (time) => {
    const [found] = await cluster.fetchTopicsOffset([{ topic, partitions: [{ partition }], fromTimestamp: time }])
    const offset = Number(found?.partitions[0]?.offset ?? -1)
    return offset < 0 ? undefined : countedFrom(topic) + offset
  },
  read: async (from) => {
    const [leader] = Object.keys(cluster.findLeaderForPartitions(topic, [partition]))
    if (leader === undefined) throw new Error(`Kafka has no partition ${partition} of ${topic}`)
    const broker = await cluster.findBroker({ nodeId: leader })
    const maxBytes = bytesPerFetch / 4
    const { responses }: FetchAnswer = await broker.fetch({
      maxWaitTime: longestWait,
      minBytes: 1,
      maxBytes,
      topics: [{ topic, partitions: [{ partition, fetchOffset: String(from - countedFrom(topic)), maxBytes }] }],
    })
    const [all] = responses.flatMap(({ partitions }) => partitions.flatMap(({ messages }) => messages))
    return all && { messages: all.received.map(counted(topic)), next: countedFrom(topic) + Number(all.offset) + 1 }
  },
})
