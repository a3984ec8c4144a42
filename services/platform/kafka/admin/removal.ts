import { setTimeout as wait } from 'node:timers/promises'
import { groupBy } from '../../group-by.js'
import { reasonOf } from '../../health/health.js'
import type { Log } from '../../health/log.js'
import type { Kafka, LogReader } from '../kafka.js'
import { countedFrom, placeOf, type TopicPartition } from '../partitions.js'
import type { Producer } from '../producer.js'
import { ownConfigs, policiesOf, setConfigs, type TopicConfigs } from './topic-configs.js'

export type { TopicConfigs } from './topic-configs.js'

/** What is to leave a partition: all messages that have one of these keys by now. `offsets`: where they are, as `Received.offset` counts. */
export type Removal = TopicPartition & { keys: ReadonlySet<string>; offsets: readonly number[] }

/** Where the settings that topics had before a removal are kept, over a crash too: `{}` when there are none. */
export type KeptConfigs = {
  load: () => Promise<TopicConfigs>
  keep: (configs: TopicConfigs) => Promise<void>
}

type RemovalDeps = {
  kafka: Pick<Kafka, 'withAdmin' | 'createLogReader'>
  producer: Pick<Producer, 'send'>
  kept: KeptConfigs
  log: Log
}

type RemovalOptions = {
  /**
   * Called when each of the keys has got a message without a value, and before Kafka may remove anything: resolves when all readers that have
   * to see these have read up to here, the offset behind them by `placeOf`.
   */
  beforeCompaction: (ends: ReadonlyMap<string, number>, over: AbortSignal) => Promise<void>
  /** Milliseconds after which it gives up. */
  within: number
  /** Gives up at once. */
  signal?: AbortSignal
}

/**
 * Removes messages from topics, from every copy, and leaves all others with their offsets. Kafka removes single messages by compaction alone,
 * which keeps the last message of each key: so each key gets a message without a value (a tombstone), the topics are compacted for a
 * while, and in the end the tombstones are gone too. What is left in each of the partitions is one message with the key `weir/roll`
 * and no value. Takes about 35 s, of which Kafka's cleaner sleeps 30 (log.cleaner.backoff.ms), and longer where partitions are large: the
 * cleaner writes each partition anew, twice.
 *
 * All of a topic's partitions may be compacted, also those that nothing is removed from. So the caller has to know beforehand that in every
 * partition of these topics no two messages have the same key, and that each has a key: of several with one key Kafka would keep only
 * the last, and none without a key. In a topic that is compacted anyway, that has happened or may happen at any time.
 *
 * What it did not finish, because it failed, gave up or was killed, can be begun anew with the same removals. The topics have their own
 * settings again when it returns or throws; after a kill `restoreConfigs` gives them back, and so does the next removal. Only one may run at a time.
 */
export const removeMessages = async (
  deps: RemovalDeps,
  removals: readonly Removal[],
  { beforeCompaction, within, signal }: RemovalOptions,
): Promise<void> => {
  // Not AbortSignal.any with AbortSignal.timeout: that timer is dropped with the next garbage collection, and never rings.
  const ending = new AbortController()
  const timer = setTimeout(() => ending.abort(new Error(`messages were not removed within ${within} ms`)), within)
  const stop = () => ending.abort(signal?.reason)
  signal?.addEventListener('abort', stop, { once: true })
  if (signal?.aborted) stop()
  try {
    await removeUnless(ending.signal, deps, removals, beforeCompaction)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
  }
}

const removeUnless = async (
  over: AbortSignal,
  deps: RemovalDeps,
  removals: readonly Removal[],
  beforeCompaction: RemovalOptions['beforeCompaction'],
): Promise<void> => {
  const { kafka, producer, kept, log } = deps
  // A run that was killed left the topics as they are while they are compacted: the readers would have no time, and what is there now is not theirs.
  await restoreConfigs(deps)
  const places = byPartition(removals)
  if (places.length === 0) return

  const before = await endsOf(kafka, places)
  const mayGoOn = () => over.throwIfAborted()
  const append = (place: TopicPartition, keys: Iterable<string>): Promise<void> =>
    producer.send(place.topic, place.partition, [...keys].map(tombstone), { mayGoOn })
  await Promise.all(places.map((place) => append(place, place.keys)))
  const ends = await endsOf(kafka, places)
  log.info({ partitions: places.length }, 'messages are going to be removed')

  const copies = createCopies(kafka)
  try {
    const tombstones = await Promise.all(
      places.map(async ({ keys, ...place }) => {
        const written = range(before.get(placeOf(place)) ?? 0, ends.get(placeOf(place)) ?? 0)
        const found = await copies.find(place, written)
        return {
          ...place,
          offsets: found.filter(({ key }) => key !== null && keys.has(key)).map(({ offset }) => offset),
        }
      }),
    )
    await unlessOver(over, beforeCompaction(ends, over))
    const topics = [...new Set(places.map(({ topic }) => topic))]
    await kept.keep(await ownConfigs(kafka, topics, Object.keys(whileCompacted([]))))
    const policies = await policiesOf(kafka, topics)
    over.throwIfAborted()
    await setConfigs(
      kafka,
      Object.fromEntries(topics.map((topic) => [topic, whileCompacted(policies.get(topic) ?? [])])),
    )
    const roll = (place: TopicPartition): Promise<void> => append(place, [rollKey])
    // Kafka drops a tombstone only when it cleans for the second time: what it saw the first time, it marks.
    await untilGone({ copies, roll, over }, places)
    await untilGone({ copies, roll, over }, tombstones)
    // Only then the files are gone that readers see no more.
    await wait(2 * deletesFilesAfter)
    log.info({ partitions: places.length }, 'messages have been removed')
  } catch (error) {
    log.warn({ reason: reasonOf(error) }, 'messages were not removed')
    throw error
  } finally {
    await copies.close()
    await restoreConfigs(deps)
  }
}

/** Gives topics back what a removal that was killed did not give back. */
export const restoreConfigs = async ({ kafka, kept }: Pick<RemovalDeps, 'kafka' | 'kept'>): Promise<void> => {
  const original = await kept.load()
  if (Object.keys(original).length === 0) return
  await setConfigs(kafka, original)
  await kept.keep({})
}

/** The key of what has Kafka begin a new file. */
export const rollKey = 'weir/roll'
const tombstone = (key: string) => ({ key, value: null })

// Kafka cleans only files ("segments") that it no longer appends to, and begins a new one with the first message that comes this long after
// a segment's own first message. Meanwhile everybody's messages do so: a partition that is busy gets a segment every two seconds.
const segmentLasts = 2_000
// With 0, a fetch under way that reads such a file would fail, and Kafka may take that for a fault of its disk.
const deletesFilesAfter = 1_000

const whileCompacted = (policies: readonly string[]): Record<string, string> => ({
  // Where it was compacted only, "delete" would have Kafka delete by age.
  'cleanup.policy': [...new Set(['compact', ...policies])].join(','),
  'segment.ms': String(segmentLasts),
  'min.compaction.lag.ms': '0',
  // As Kafka writes it itself.
  'min.cleanable.dirty.ratio': '0.0',
  'delete.retention.ms': '0',
  'file.delete.delay.ms': String(deletesFilesAfter),
})

const byPartition = (removals: readonly Removal[]): Removal[] =>
  [...groupBy(removals, placeOf).values()]
    .map((all) => ({
      ...{ topic: all[0].topic, partition: all[0].partition },
      keys: new Set(all.flatMap(({ keys }) => [...keys])),
      offsets: all.flatMap(({ offsets }) => offsets),
    }))
    .filter(({ keys, offsets }) => keys.size > 0 || offsets.length > 0)

/** The offset behind each partition's last message. */
const endsOf = (kafka: Pick<Kafka, 'withAdmin'>, places: readonly TopicPartition[]): Promise<Map<string, number>> =>
  kafka.withAdmin(async (admin) => {
    const wanted = new Set(places.map(placeOf))
    const ends = new Map<string, number>()
    for (const topic of new Set(places.map((place) => place.topic)))
      for (const { partition, high } of await admin.fetchTopicOffsets(topic))
        if (wanted.has(placeOf({ topic, partition })))
          ends.set(placeOf({ topic, partition }), countedFrom(topic) + Number(high))
    return ends
  })

type Offsets = TopicPartition & { offsets: readonly number[] }
type Copies = ReturnType<typeof createCopies>

// Each look at a partition costs every broker that has a copy a millisecond.
const lookEvery = 1_000
const longestUntilRolled = 60_000

/**
 * Waits until no copy has a message at these offsets. Each broker cleans its copies by itself, and would keep for good what is
 * there when the topic is no longer compacted: so every one that should have a copy is asked, and one that is away is waited for.
 */
const untilGone = async (
  deps: { copies: Copies; roll: (place: TopicPartition) => Promise<void>; over: AbortSignal },
  places: readonly Offsets[],
): Promise<void> => {
  let left = await deps.copies.of(places)
  // Once should do, but a broker may have heard of the settings too late. Not often: each roll has the cleaner write a partition anew.
  for (let pause = segmentLasts + lookEvery; ; pause = Math.min(2 * pause, longestUntilRolled)) {
    const rolled = [...groupBy(left, placeOf).values()].map(([first]) => first)
    await Promise.all(rolled.map(deps.roll))
    for (const until = performance.now() + pause; performance.now() < until; ) {
      left = await deps.copies.stillThere(left)
      const [first] = left
      if (!first) return
      if (deps.over.aborted) {
        const where = `broker ${first.broker} has ${placeOf(first)}`
        throw new Error(`${left.length} copies of partitions still have messages that were to go: ${where}`, {
          cause: first.problem ?? deps.over.reason,
        })
      }
      await wait(lookEvery, undefined, { signal: deps.over }).catch(() => {})
    }
  }
}

type Copy = Offsets & { broker: number; problem?: unknown }
type Found = { key: string | null; offset: number }

const atOnce = 200

/** The copies of partitions, each read from its own broker. */
const createCopies = (kafka: Pick<Kafka, 'withAdmin' | 'createLogReader'>) => {
  // One for each broker: where one is away, reading from the others goes on.
  const readers = new Map<number | undefined, LogReader>()
  const readerOf = (broker: number | undefined): LogReader => {
    const reader = readers.get(broker) ?? kafka.createLogReader()
    readers.set(broker, reader)
    return reader
  }
  const find = async (place: TopicPartition & { broker?: number }, offsets: readonly number[]): Promise<Found[]> => {
    const all: Found[] = []
    for (let n = 0; n < offsets.length; n += atOnce) {
      const found = await readerOf(place.broker).messagesAt(place, offsets.slice(n, n + atOnce))
      // Without the values: there may be many, and they may be large.
      for (const { key, offset } of found.values()) all.push({ key, offset })
    }
    return all
  }
  const look = async (copy: Copy): Promise<Copy> => {
    try {
      // Kafka cleans from the beginning on: while the last one is there, the others need not be asked for.
      const last = await find(copy, copy.offsets.slice(-1))
      const found = last.length > 0 ? copy.offsets : (await find(copy, copy.offsets)).map(({ offset }) => offset)
      const { problem: _, ...rest } = copy
      return { ...rest, offsets: found }
    } catch (problem) {
      return { ...copy, problem }
    }
  }
  return {
    find,
    of: (places: readonly Offsets[]): Promise<Copy[]> =>
      kafka.withAdmin(async (admin) => {
        const { topics } = await admin.fetchTopicMetadata({ topics: [...new Set(places.map(({ topic }) => topic))] })
        const brokersOf = new Map(
          topics.flatMap(({ name, partitions }) =>
            partitions.map((each) => [placeOf({ topic: name, partition: each.partitionId }), each.replicas]),
          ),
        )
        return places
          .filter(({ offsets }) => offsets.length > 0)
          .flatMap(({ topic, partition, offsets }) => {
            const sorted = [...offsets].sort((a, b) => a - b)
            const brokers = brokersOf.get(placeOf({ topic, partition })) ?? []
            return brokers.map((broker) => ({ topic, partition, broker, offsets: sorted }))
          })
      }),
    /** Those that still have some of their messages, or cannot be asked. */
    stillThere: async (copies: readonly Copy[]): Promise<Copy[]> => {
      const looked = await Promise.all(
        [...groupBy(copies, ({ broker }) => broker).values()].map(async (ofBroker) => {
          const seen: Copy[] = []
          let problem: unknown
          for (const copy of ofBroker) {
            // A broker that is away is asked once.
            const looked: Copy = problem === undefined ? await look(copy) : { ...copy, problem }
            problem = looked.problem
            seen.push(looked)
          }
          return seen
        }),
      )
      return looked.flat().filter(({ offsets, problem }) => offsets.length > 0 || problem !== undefined)
    },
    close: async (): Promise<void> => {
      await Promise.all([...readers.values()].map((reader) => reader.close()))
    },
  }
}

const range = (from: number, until: number): number[] =>
  Array.from({ length: Math.max(0, until - from) }, (_, n) => from + n)

/** What the work resolves to, unless it is over before that. */
const unlessOver = <T>(over: AbortSignal, work: Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    if (over.aborted) reject(over.reason)
    over.addEventListener('abort', () => reject(over.reason), { once: true })
    work.then(resolve, reject)
  })
