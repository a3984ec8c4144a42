import type { Cluster } from 'kafkajs'
import { within } from '../../process/within.js'
import { adjustBrokers } from '../brokers.js'
import { counted, countedFrom, placeOf, type TopicPartition } from '../partitions.js'
import { type ClientWith, createOwnCluster } from './cluster.js'
import type { decodeFetchAnswer } from './fetch-answer.js'
import type { Received } from './record-batch.js'
import type { OpenSocket } from './socket.js'

/** Reads a partition here and there, by offsets. It is in no group, and leaves no trace in Kafka. */
export type PartitionReader = {
  /** The offset of the first message that is not older than this moment (in milliseconds); undefined where there is none. */
  offsetAt: (time: number) => Promise<number | undefined>
  /**
   * What one fetch brings, and the offset behind all that it read, ends of transactions too. Undefined at the end. Kafka sends whole record
   * batches: the first one in any case, and others as far as they fit into `bytes`.
   */
  read: (from: number, bytes?: number) => Promise<{ messages: Received[]; next: number } | undefined>
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
  prepareReads(cluster)
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

/** What a cluster has to be told before `readerOf` reads with it. */
const prepareReads = (cluster: Cluster): void =>
  adjustBrokers(cluster, {
    bytesPerFetch,
    inSession: false,
    longestWait: () => longestWait,
    beforeGroupChange: async () => {},
  })

/** `beginsAt`: the first offset that Kafka still has. */
type LogPartition = PartitionReader & { beginsAt: () => Promise<number> }
type FetchAnswer = Awaited<ReturnType<typeof decodeFetchAnswer>>

const readerOf = (cluster: Cluster, topic: string, partition: number, broker?: number): LogPartition => ({
  offsetAt: async (time) => {
    const [found] = await cluster.fetchTopicsOffset([{ topic, partitions: [{ partition }], fromTimestamp: time }])
    const offset = Number(found?.partitions[0]?.offset ?? -1)
    return offset < 0 ? undefined : countedFrom(topic) + offset
  },
  beginsAt: async () => {
    const [found] = await cluster.fetchTopicsOffset([{ topic, partitions: [{ partition }], fromBeginning: true }])
    return countedFrom(topic) + Number(found?.partitions[0]?.offset ?? 0)
  },
  read: async (from, maxBytes = bytesPerFetch / 4) => {
    const [leader] = Object.keys(cluster.findLeaderForPartitions(topic, [partition]))
    if (leader === undefined) throw new Error(`Kafka has no partition ${partition} of ${topic}`)
    const asked = await cluster.findBroker({ nodeId: broker === undefined ? leader : String(broker) })
    const { responses }: FetchAnswer = await asked.fetch({
      maxWaitTime: longestWait,
      minBytes: 1,
      maxBytes,
      topics: [{ topic, partitions: [{ partition, fetchOffset: String(from - countedFrom(topic)), maxBytes }] }],
    })
    const [all] = responses.flatMap(({ partitions }) => partitions.flatMap(({ messages }) => messages))
    return all && { messages: all.received.map(counted(topic)), next: countedFrom(topic) + Number(all.offset) + 1 }
  },
})

/** Reads single messages of the log by their offsets, for as long as it is open. It is in no group, and leaves no trace in Kafka. */
export type LogReader = {
  /**
   * The messages at these offsets of a partition. Those that Kafka no longer has are left out. Read from the leader's copy, or from that of
   * `broker`, which gives it since Kafka 2.4.
   */
  messagesAt: (
    place: TopicPartition & { broker?: number },
    offsets: readonly number[],
  ) => Promise<Map<number, Received>>
  close: () => Promise<void>
}

const answerWithin = 5_000
// Of a partition in which many write, one message is wanted of a stretch that is all of others; behind it, Kafka is to send nothing.
const justThis = 1
const aStretch = 256 * 1024

/** Connects when it is first asked. What fails is tried once more, on connections of its own: leaders move, and idle connections end. */
export const createLogReader = (clientWith: ClientWith, open: OpenSocket): LogReader => {
  type Opened = ReturnType<typeof createOwnCluster<Cluster>>
  let opened: Promise<Opened> | undefined

  const connect = async (): Promise<Opened> => {
    const own = createOwnCluster<Cluster>(clientWith, open)
    prepareReads(own.cluster)
    await own.cluster.connect()
    return own
  }
  const current = (): Promise<Opened> => {
    opened ??= connect()
    return opened
  }
  const discard = (used: Promise<Opened>): void => {
    if (opened === used) opened = undefined
    used.then(
      ({ reset }) => reset(),
      () => {},
    )
  }

  const tryOnce: LogReader['messagesAt'] = async (place, offsets) => {
    const used = current()
    const read = async () => {
      const { cluster } = await used
      await cluster.addTargetTopic(place.topic)
      return readAt(readerOf(cluster, place.topic, place.partition, place.broker), offsets)
    }
    try {
      return await within(answerWithin, read())
    } catch (error) {
      discard(used)
      throw error
    }
  }

  return {
    messagesAt: (place, offsets) =>
      tryOnce(place, offsets).catch(() =>
        tryOnce(place, offsets).catch((cause) => {
          throw new Error(`Kafka did not give ${offsets.length} messages of ${placeOf(place)}`, { cause })
        }),
      ),
    close: async () => {
      const last = opened
      opened = undefined
      await (await last?.catch(() => undefined))?.cluster.disconnect()
    },
  }
}

const readAt = async (
  reader: Pick<LogPartition, 'read' | 'beginsAt'>,
  offsets: readonly number[],
): Promise<Map<number, Received>> => {
  const found = new Map<number, Received>()
  let left = [...new Set(offsets)].sort((a, b) => a - b)
  for (let [first, second] = left; first !== undefined; [first, second] = left) {
    const read = await reader.read(first, second === first + 1 ? aStretch : justThis).catch(async (error: unknown) => {
      if ((error as { type?: string }).type !== 'OFFSET_OUT_OF_RANGE') throw error
      return { messages: [], next: Math.max((first ?? 0) + 1, await reader.beginsAt()) }
    })
    if (!read) break
    const wanted = new Set(left)
    for (const message of read.messages) if (wanted.has(message.offset)) found.set(message.offset, message)
    left = left.filter((offset) => offset >= read.next)
  }
  return found
}
