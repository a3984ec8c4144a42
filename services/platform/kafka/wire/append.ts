import { setImmediate as turn } from 'node:timers/promises'
import type { Broker, Cluster } from 'kafkajs'
import { groupBy } from '../../group-by.js'
import { reasonOf } from '../../health/health.js'
import type { Log } from '../../health/log.js'
import { placeOf } from '../partitions.js'
import { FinalRefusal, type Message, type Wire } from '../producer.js'
import { changingCalls } from './broker-call.js'
import { encodeBatch } from './record-batch.js'

/** kafkajs has these too; its types leave them out. */
export type ProducingCluster = Cluster & {
  targetTopics: ReadonlySet<string>
  addMultipleTargetTopics: (topics: readonly string[]) => Promise<void>
  refreshMetadataIfNecessary: () => Promise<void>
  removeBroker: (at: { host: string; port: number }) => void
}
type ProducingBroker = Broker & { produce: (request: object) => Promise<unknown> }

type QueuedSend = {
  topic: string
  partition: number
  messages: readonly Message[]
  bytes: number
  mayGoOn: () => void
  resolve: () => void
  reject: (error: unknown) => void
}

/** What goes to one partition in one request: one record batch, of one send or of several. */
type PartitionSend = { topic: string; partition: number; messages: readonly Message[]; sends: readonly QueuedSend[] }

// A send of this size goes by itself and at once.
const large = 64 * 1024
const mostTogether = 512 * 1024

/**
 * Small sends to one broker that come while a request is under way go together in the next one: the broker handles one at a
 * time anyway, and a request costs more than a message. Each send has an outcome of its own.
 */
export const createAppend = (cluster: ProducingCluster, log: Log): Wire['send'] => {
  const queues = new Map<string, { waiting: QueuedSend[]; isBusy: boolean }>()

  const leaderOf = async (topic: string, partition: number): Promise<string> => {
    if (!cluster.targetTopics.has(topic)) await cluster.addMultipleTargetTopics([topic])
    await cluster.refreshMetadataIfNecessary()
    const found = cluster.findTopicPartitionMetadata(topic).find(({ partitionId }) => partitionId === partition)
    if (!found) throw new Error(`Kafka has no partition ${partition} of ${topic}`)
    return String(found.leader)
  }

  /** Never rejects: each send is resolved or rejected by itself. */
  const sendTogether = async (leader: string, sends: readonly QueuedSend[]): Promise<void> => {
    const parts = partsOf(sends.filter(mayStillGo))
    if (parts.length === 0) return
    const outcomes = await produce(cluster, leader, parts).catch((error: unknown) => parts.map(() => error))
    const failed = parts.flatMap((part, n) => (outcomes[n] === undefined ? [] : [{ ...part, error: outcomes[n] }]))
    for (const [n, { sends: done }] of parts.entries()) {
      if (outcomes[n] === undefined) for (const { resolve } of done) resolve()
    }
    for (const { topic, partition, error } of failed)
      log.warn({ topic, partition, reason: reasonOf(error) }, 'a send to Kafka failed')
    // Where that fails too, the next try says why.
    if (failed.some(({ error }) => !isFinal(error))) await recover(cluster, failed[0]?.error).catch(() => {})
    for (const { sends: refused, error } of failed) {
      // Several sends are perhaps too large only together, or one of them is to blame for all.
      if (isFinal(error) && refused.length > 1) for (const each of refused) await sendTogether(leader, [each])
      else for (const { reject } of refused) reject(toFailure(error))
    }
  }

  const sendWaiting = async (leader: string, queue: { waiting: QueuedSend[]; isBusy: boolean }): Promise<void> => {
    queue.isBusy = true
    while (queue.waiting.length > 0) {
      // What else begins to send in this turn of the event loop comes along.
      await turn()
      let count = 0
      for (let bytes = 0; count < queue.waiting.length; count++) {
        bytes += queue.waiting[count]?.bytes ?? 0
        if (bytes > mostTogether) break
      }
      await sendTogether(leader, queue.waiting.splice(0, count))
    }
    queue.isBusy = false
  }

  return async (topic, partition, messages, mayGoOn) => {
    const leader = await leaderOf(topic, partition).catch(async (error: unknown) => {
      if (!isFinal(error)) await recover(cluster, error).catch(() => {})
      throw toFailure(error)
    })
    const bytes = messages.reduce((sum, { key, value }) => sum + key.length + (value?.length ?? 0), 0)
    await new Promise<void>((resolve, reject) => {
      const send = { topic, partition, messages, bytes, mayGoOn, resolve, reject }
      if (bytes >= large) {
        void sendTogether(leader, [send])
        return
      }
      const queue = queues.get(leader) ?? { waiting: [], isBusy: false }
      queues.set(leader, queue)
      queue.waiting.push(send)
      if (!queue.isBusy) void sendWaiting(leader, queue)
    })
  }
}

/** Asked again, since a send may have waited for the request before it. */
const mayStillGo = ({ mayGoOn, reject }: QueuedSend): boolean => {
  try {
    mayGoOn()
    return true
  } catch (error) {
    reject(error)
    return false
  }
}

const partsOf = (sends: readonly QueuedSend[]): PartitionSend[] =>
  [...groupBy(sends, placeOf).values()].map(([first, ...others]) => ({
    topic: first.topic,
    partition: first.partition,
    messages: others.length === 0 ? first.messages : [first, ...others].flatMap(({ messages }) => messages),
    sends: [first, ...others],
  }))

// How long the leader waits for the other copies.
const copiedWithin = 30_000
/** From this version of the request on, it holds record batches. */
const firstWithBatches = 3

/** One produce request, acknowledged by all copies in sync. Resolves to what went wrong with each part, if anything did. */
const produce = async (
  cluster: ProducingCluster,
  leader: string,
  parts: readonly PartitionSend[],
): Promise<unknown[]> => {
  const broker = (await cluster.findBroker({ nodeId: leader })) as ProducingBroker
  const now = Date.now()
  const batches = await Promise.all(
    parts.map(async ({ topic, partition, messages }) => ({
      topic,
      partition,
      batch: await encodeBatch(messages, now),
    })),
  )
  let parse: (answer: Answer) => Promise<unknown> = async () => {}
  const producing = changingCalls(broker, ({ request, response, ...rest }) => {
    if (request.apiVersion < firstWithBatches) throw new Error('this Kafka is older than 0.11')
    parse = (answer) => response.parse(answer)
    const bytes = toRequest(batches)
    return {
      ...rest,
      request: { ...request, encode: async () => ({ buf: bytes, buffer: bytes }) },
      // kafkajs would throw the first error of all parts.
      response: { ...response, parse: async (answer) => answer },
    }
  })
  const options = { acks: -1, timeout: copiedWithin, topicData: [] }
  const { topics } = (await broker.produce.call(producing, options)) as Answer
  return Promise.all(
    parts.map(async ({ topic, partition, messages }) => {
      const own = topics
        .filter(({ topicName }) => topicName === topic)
        .flatMap(({ partitions }) => partitions.filter((each) => each.partition === partition))
      const refused = await parse({ topics: [{ topicName: topic, partitions: own }] }).then(() => undefined, toError)
      if (refused || own.some(({ baseOffset }) => Number(baseOffset) >= 0)) return refused
      return new Error(`Kafka did not confirm ${messages.length} messages for ${placeOf({ topic, partition })}`)
    }),
  )
}

/** As kafkajs decodes it. */
type Answer = {
  topics: { topicName: string; partitions: { partition: number; errorCode: number; baseOffset: string }[] }[]
}

const toError = (error: unknown): unknown => error

const toRequest = (batches: readonly { topic: string; partition: number; batch: Buffer }[]): Buffer => {
  const topics = [...groupBy(batches, ({ topic }) => topic).values()]
  const names = topics.reduce((sum, [{ topic }]) => sum + 6 + Buffer.byteLength(topic), 0)
  const bytes = Buffer.allocUnsafe(12 + names + batches.reduce((sum, { batch }) => sum + 8 + batch.length, 0))
  // No transaction, and acknowledged by all copies in sync.
  let at = bytes.writeInt16BE(-1)
  at = bytes.writeInt16BE(-1, at)
  at = bytes.writeInt32BE(copiedWithin, at)
  at = bytes.writeInt32BE(topics.length, at)
  for (const parts of topics) {
    const [{ topic }] = parts
    at = bytes.writeInt16BE(Buffer.byteLength(topic), at)
    at += bytes.write(topic, at)
    at = bytes.writeInt32BE(parts.length, at)
    for (const { partition, batch } of parts) {
      at = bytes.writeInt32BE(partition, at)
      at = bytes.writeInt32BE(batch.length, at)
      at += batch.copy(bytes, at)
    }
  }
  return bytes
}

const toFailure = (error: unknown): unknown =>
  isFinal(error) ? new FinalRefusal(reasonOf(error), { cause: error }) : error

/** A connection whose login ended in between: kafkajs closes it, and the next try begins with a new login. */
const illegalSaslState = 34

/** Whether a broker said no, as opposed to none being reached: kafkajs calls both final when its own tries are used up. */
const isFinal = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false
  if (error.cause instanceof Error) return isFinal(error.cause)
  return 'code' in error && 'retriable' in error && error.retriable === false && error.code !== illegalSaslState
}

/** Prepares the next try, as kafkajs's own producer does: the leader may have moved, or its broker may be gone. */
const recover = async (cluster: ProducingCluster, error: unknown): Promise<void> => {
  const { name, host, port } = error as { name?: string; host?: string; port?: number }
  if (name === 'KafkaJSConnectionClosedError' && host && port) cluster.removeBroker({ host, port })
  if (!cluster.isConnected()) await cluster.connect()
  await cluster.refreshMetadata()
}
