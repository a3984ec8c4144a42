import kafkajs, {
  Kafka as Client,
  type EachBatchPayload,
  type ISocketFactory,
  type logCreator,
  logLevel,
  PartitionAssigners,
  type SASLOptions,
} from 'kafkajs'
import { reasonOf } from '../health/health.js'
import type { Log } from '../health/log.js'
import type { KafkaAccess, KafkaLogin } from '../process/access.js'
import { watchProduce } from '../process/fail-point.js'
import type { Crash } from '../process/lifecycle.js'
import { within } from '../process/within.js'
import { type Admin, withAdmin } from './admin/admin.js'
import { moveGroup } from './admin/move-group.js'
import { adjustBrokers, createAssigner, type Had, placesIn } from './brokers.js'
import { createCommits } from './commits.js'
import { type Pulse, watchPulse } from './consumer-pulse.js'
import { createLookBack } from './look-back.js'
import { createTokenSource } from './oauth-token.js'
import { createPartitionWork } from './partition-work.js'
import { counted, countedFrom, type TopicPartition } from './partitions.js'
import { createProducer, type Producer } from './producer.js'
import { goByMost } from './wire/agreed-view.js'
import { calmBusyLoops } from './wire/busy-loops.js'
import type { StandIn } from './wire/fetch-answer.js'
import { checkClient } from './wire/known-client.js'
import { openWire } from './wire/open-wire.js'
import { createLogReader, type LogReader, type PartitionReader, withPartitionReader } from './wire/read-partition.js'
import type { Received } from './wire/record-batch.js'
import { createOpenSocket, type OpenSocket, orRefused } from './wire/socket.js'

// Only this file, brokers.ts, admin/ and wire/ know kafkajs. Each rule below prevents a loss or a repetition that kafkajs made in trials.

export type { LogReader, PartitionReader } from './wire/read-partition.js'
export { hasValue, type Received, type Valued } from './wire/record-batch.js'

/** What one fetch brought of one partition. */
export type Fetch = TopicPartition & {
  messages: Received[]
  /** The message just before these, where `looksBack` asks for it and the log still has it. */
  before?: Received
  /** The offset behind all that this fetch read: the end of a transaction takes an offset and is no message. */
  next: number
  highWatermark: number
  /** Whether the group's coordinator still counts this consumer as the partition's owner, as far as we can know. */
  holdsPartition: () => boolean
}

export type Consumer = {
  /** Throws, saying why, when the consumer is no member of its group or has heard nothing for too long. */
  check: () => void
  close: () => Promise<void>
}

export type ConsumeOptions = {
  groupId: string
  topics: readonly string[]
  fromBeginning: boolean
  /** Where to begin, for a reader that wants a certain stretch; messages before that may be handed over too. */
  startAt?: readonly (TopicPartition & { offset: number })[]
  /** False for a reader that never continues where it stopped, such as the edge, which reads verdicts from now on. */
  commits?: boolean
  partitionsAtOnce?: number
  /** The most that one fetch brings, unpacked; one record batch more at the most. That bounds its records too. */
  bytesPerFetch?: number
  /** Where a partition's messages of one fetch have fewer unpacked bytes than this, they are small, and do not wait for another partition's large ones. */
  smallBelow?: number
  /** The broker holds a fetch back until it has this much to give, or `gatherMs` have passed; asked before each fetch, and never more than `mostGatherMs`. */
  gatherBytes?: number
  gatherMs?: () => number
  mostGatherMs?: number
  /** Whether the first fetch of a partition since it was assigned brings the message before it, too. */
  looksBack?: boolean
  /** Where it rejects, the partition waits a moment and is fetched again from there; the others go on. */
  onFetch: (fetch: Fetch) => Promise<void>
  /** Called when a fetch read on up to `next` and found no message. */
  onNothing?: (read: TopicPartition & { next: number }) => void
  /** Called with all partitions that this consumer has, each time that they are assigned anew. */
  onAssigned?: (assigned: TopicPartition[]) => void
  crash: Crash
}

export type Kafka = ReturnType<typeof createKafka>

// Also how long a killed member's partitions wait for another member.
const usualSessionTimeout = 10_000
// kafkajs leaves out a heartbeat that comes earlier than a fifth of the session after the last one.
const beatEvery = 500
// Half of 500, which a stop may have to wait, costs an idle edge, integrity and Kafka 3 ms CPU a second.
const usualGatherMs = 250
const waitBesideOthers = 100
const askWithin = 5_000
// A fetch from a broker that is cut off from the others brings nothing, and no error: who leads is asked again after this long.
const metadataMaxAge = 15_000

export const createKafka = (
  deps: KafkaAccess & {
    clientId: string
    log: Log
    /** How often a request is tried again before it fails. */
    retries?: number
    /** For tests: called when a message has been sent and is not acknowledged yet. */
    onProduceSent?: (() => void) | undefined
  },
) => {
  const open = createOpenSocket(deps.tls)
  const openWatched: OpenSocket = (options) => {
    const opened = open(options)
    if (deps.onProduceSent) watchProduce(opened.socket, deps.onProduceSent)
    return opened
  }
  const sasl = deps.login && toSasl(deps.login)
  const clientWith = (socketFactory: ISocketFactory, retries: number): Client =>
    goByMost(
      new Client({
        clientId: deps.clientId,
        brokers: deps.brokers.split(','),
        connectionTimeout: 3_000,
        requestTimeout: 30_000,
        retry: { initialRetryTime: 100, maxRetryTime: 2_000, retries },
        logLevel: logLevel.WARN,
        logCreator: toPino(deps.log),
        socketFactory,
        ...(sasl && { sasl }),
      }),
    )
  const client = clientWith((options) => open(options).socket, deps.retries ?? 8)
  checkClient(client)
  calmBusyLoops()
  const explained = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw orRefused(error, sasl !== undefined)
    })
  /** A client that was silent may have lost Kafka for good: this one is new. */
  const isThere = async (): Promise<boolean> => {
    const other = clientWith((options) => open(options).socket, 0)
    await within(
      askWithin,
      withAdmin(other, (admin) => admin.describeCluster()),
    )
    return true
  }
  return {
    // Each wire is a client of its own, with connections that no other shares: they can be cut off.
    createProducer: (): Promise<Producer> =>
      createProducer(() => explained(openWire(clientWith, openWatched, deps.log))),
    consume: (options: ConsumeOptions): Promise<Consumer> =>
      explained(consume(client, deps.log, deps.sessionTimeout ?? usualSessionTimeout, isThere, options)),
    /** Runs work that reads one partition by offsets, on connections of its own; it fails once `ms` have passed. */
    withPartitionReader: <T>(
      place: TopicPartition & { ms: number },
      work: (reader: PartitionReader) => Promise<T>,
    ): Promise<T> => explained(withPartitionReader(clientWith, open, place, work)),
    /** Reads single messages by their offsets, on connections of its own. */
    createLogReader: (): LogReader => createLogReader(clientWith, open),
    /** Runs work with an admin connection that is closed afterwards. */
    withAdmin: <T>(work: (admin: Admin) => Promise<T>): Promise<T> => explained(withAdmin(client, work)),
    /** Lets a group without members go on from these offsets. */
    moveGroup: (groupId: string, places: readonly (TopicPartition & { offset: string })[]): Promise<void> =>
      explained(moveGroup(client, groupId, places)),
  }
}

const toSasl = (login: KafkaLogin): SASLOptions => {
  if (login.mechanism === 'OAUTHBEARER') {
    const token = createTokenSource(login)
    return { mechanism: 'oauthbearer', oauthBearerProvider: async () => ({ value: await token() }) }
  }
  const { mechanism, username, password } = login
  return { mechanism: saslNames[mechanism], username, password }
}
const saslNames = { PLAIN: 'plain', 'SCRAM-SHA-256': 'scram-sha-256', 'SCRAM-SHA-512': 'scram-sha-512' } as const

const consume = async (
  client: Client,
  log: Log,
  sessionTimeout: number,
  isThere: () => Promise<boolean>,
  options: ConsumeOptions,
): Promise<Consumer> => {
  const bytesPerFetch = options.bytesPerFetch ?? 4 * 1024 * 1024
  // What is fetched and stays packed is fetched again. With a quarter of the bound, that is always less than what is unpacked.
  const maxBytes = Math.ceil(bytesPerFetch / 4)
  const maxBytesPerPartition = Math.ceil(maxBytes / 2)
  const { gatherMs = () => usualGatherMs, mostGatherMs = usualGatherMs } = options
  let isClosing = false
  let heartbeat = async (): Promise<void> => {}
  let had: Had = { partitions: {}, since: 0 }
  const consumer = client.consumer({
    groupId: options.groupId,
    sessionTimeout,
    heartbeatInterval: sessionTimeout / 5,
    // Kafka counts no more of a partition than it would give of it.
    minBytes: Math.min(options.gatherBytes ?? 1, maxBytesPerPartition),
    // Also how long a stop waits for the fetch under way.
    maxWaitTimeInMs: mostGatherMs,
    maxBytesPerPartition,
    maxBytes,
    allowAutoTopicCreation: false,
    metadataMaxAge,
    retry: { initialRetryTime: 200, maxRetryTime: 5_000, retries: 8 },
    partitionAssigners: [
      (config) => {
        // No other consumer may work on a partition before the work that is under way here has ended.
        const beforeGroupChange = () => whileBeating(heartbeat, ended).catch(() => {})
        // A partition whose work ends aside is part of the fetch after the one that is under way. Where messages are gathered, that may wait too.
        const isBesideOthers = () => options.gatherMs === undefined && work.hasAside()
        const longestWait = () => (isBesideOthers() ? waitBesideOthers : gatherMs())
        adjustBrokers(config.cluster, { bytesPerFetch, inSession: true, longestWait, beforeGroupChange })
        return createAssigner(() => had)(config)
      },
      // For groups in which a member of an earlier version is left, which knows only this one.
      PartitionAssigners.roundRobin,
    ],
  })
  let isInGroup = false
  consumer.on('consumer.group_join', () => {
    isInGroup = true
  })
  // kafkajs knows no pauses between a stop and its next start, and has forgotten the old ones by then.
  consumer.on('consumer.stop', () => {
    isInGroup = false
  })
  const work = createPartitionWork({
    pause: ({ topic, partition }) => isInGroup && consumer.pause([{ topic, partitions: [partition] }]),
    resume: ({ topic, partition }) => isInGroup && consumer.resume([{ topic, partitions: [partition] }]),
    mostBytesAside: 2 * bytesPerFetch,
    smallBelow: options.smallBelow,
    log,
  })
  const commits = createCommits({
    commit: (all) => consumer.commitOffsets(all.map((done) => ({ ...done, offset: String(done.offset) }))),
    log,
  })
  const ended = async (): Promise<void> => {
    await work.ended()
    await commits.ended()
  }
  const pulse = watchPulse(consumer, { groupId: options.groupId, sessionTimeout, isThere, crash: options.crash })
  consumer.on('consumer.group_join', ({ payload: { memberAssignment } }) => {
    had = { partitions: memberAssignment, since: Date.now() }
    commits.forget()
    options.onAssigned?.(placesIn(memberAssignment))
  })
  consumer.on('consumer.end_batch_process', ({ payload: { topic, partition, batchSize, lastOffset } }) => {
    if (batchSize === 0) options.onNothing?.({ topic, partition, next: countedFrom(topic) + Number(lastOffset) + 1 })
  })
  const lookBack = options.looksBack ? createLookBack(consumer) : undefined
  await consumer.connect()
  await consumer.subscribe({ topics: [...options.topics], fromBeginning: options.fromBeginning })

  const handle = async (payload: EachBatchPayload, fetch: Fetch): Promise<void> => {
    await options.onFetch(fetch)
    const { topic, partition, next } = fetch
    payload.resolveOffset(payload.batch.lastOffset())
    if (options.commits !== false) commits.add({ topic, partition, offset: next - countedFrom(topic) })
  }
  // Not awaited: joining a group waits until Kafka has given up the group's dead members. `check` says when it is done.
  const running = consumer.run({
    eachBatchAutoResolve: false,
    autoCommit: false,
    partitionsConsumedConcurrently: options.partitionsAtOnce ?? 1,
    eachBatch: async (payload) => {
      // Waited for, or the same would be fetched again and again until then.
      if (isClosing) return whileBeating(payload.heartbeat, ended)
      heartbeat = payload.heartbeat
      await rejoinIfForgotten(payload.heartbeat, pulse)
      const fetched = toFetch(payload, pulse)
      if (lookBack?.goesBack(fetched, fetched.messages[0]?.offset ?? 0)) return
      const fetch = countedFetch(lookBack?.split(fetched) ?? fetched)
      const bytes = fetch.messages.reduce((sum, { value }) => sum + (value?.length ?? 0), 0)
      await whileBeating(payload.heartbeat, () => work.take(fetch, bytes, () => handle(payload, fetch)))
      // kafkajs itself sends a heartbeat only after a fetch that brought nothing.
      await payload.heartbeat()
    },
  })
  for (const { offset, ...place } of options.startAt ?? [])
    consumer.seek({ ...place, offset: String(offset - countedFrom(place.topic)) })
  running.then(
    () => log.info({ groupId: options.groupId, topics: options.topics.length }, 'consumer runs'),
    options.crash,
  )
  return {
    check: pulse.check,
    close: async () => {
      isClosing = true
      pulse.stop()
      work.stop()
      // What is done by now is committed, and what is not the next owner does again.
      await ended()
      await consumer.disconnect()
    },
  }
}

/** kafkajs sends heartbeats only when asked; without them a handler that takes longer than a session loses its partition. */
const whileBeating = async (heartbeat: () => Promise<void>, work: () => Promise<void>): Promise<void> => {
  let lost: Error | undefined
  const beat = () =>
    heartbeat().catch((error: Error) => {
      lost = error
    })
  const timer = setInterval(beat, beatEvery)
  try {
    await work()
  } finally {
    clearInterval(timer)
  }
  if (lost) throw lost
}

/** While its coordinator moves, kafkajs can forget its own name: it fetches, but commits nothing. This makes it join anew. */
const rejoinIfForgotten = async (beat: () => Promise<void>, pulse: Pulse): Promise<void> => {
  if (pulse.isHeld()) return
  await beat()
  if (pulse.isHeld()) return
  const forgotten = { name: 'KafkaJSProtocolError', message: 'this consumer is no member of its group', code: 25 }
  throw new kafkajs.KafkaJSProtocolError({ ...forgotten, type: 'UNKNOWN_MEMBER_ID', retriable: false } as Error)
}

const toFetch = ({ batch }: EachBatchPayload, pulse: Pulse): Fetch => ({
  topic: batch.topic,
  partition: batch.partition,
  next: Number(batch.lastOffset()) + 1,
  highWatermark: Number(batch.highWatermark),
  messages: (batch.messages as unknown as StandIn[]).flatMap(({ received }) => received),
  holdsPartition: pulse.isHeld,
})

/** A fetch with the offsets that its topic is counted by. */
const countedFetch = (fetch: Fetch): Fetch => {
  const from = countedFrom(fetch.topic)
  if (from === 0) return fetch
  const count = counted(fetch.topic)
  return {
    ...fetch,
    next: fetch.next + from,
    highWatermark: fetch.highWatermark + from,
    messages: fetch.messages.map(count),
    ...(fetch.before && { before: count(fetch.before) }),
  }
}

const toPino =
  (log: Log): logCreator =>
  () =>
  ({ level, log: { message, error, groupId, broker, topic, partition } }) => {
    const reason = error instanceof Error ? reasonOf(error) : error
    const fields = { library: 'kafkajs', reason, groupId, broker, topic, partition }
    // kafkajs mostly recovers by itself from what it logs as an error; the rest reaches us as an exception.
    if (level <= logLevel.WARN) log.warn(fields, message)
    else log.debug(fields, message)
  }
