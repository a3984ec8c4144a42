import { randomUUID } from 'node:crypto'
import type { Fetch, Kafka } from './kafka.js'
import { countedFrom, placeOf } from './partitions.js'

/** A stretch of a partition: from the offset `from`, up to but without the offset `until`. */
export type Stretch = { topic: string; partition: number; from: number; until: number }

/** All that these topics hold now; with `since` (milliseconds), only what was written from that moment on. */
export const stretchesOf = (kafka: Kafka, topics: readonly string[], since?: number): Promise<Stretch[]> =>
  kafka.withAdmin(async (admin) => {
    const stretches: Stretch[] = []
    for (const topic of topics) {
      const starts = since === undefined ? [] : await admin.fetchTopicOffsetsByTimestamp(topic, since)
      for (const { partition, low, high } of await admin.fetchTopicOffsets(topic)) {
        const start = starts.find((each) => each.partition === partition)?.offset ?? low
        const first = countedFrom(topic)
        stretches.push({ topic, partition, from: first + Number(start), until: first + Number(high) })
      }
    }
    return stretches
  })

/** How many partitions each of these topics has; throws where one of them does not exist. */
export const countPartitions = (kafka: Kafka, topics: readonly string[]): Promise<Map<string, number>> =>
  kafka.withAdmin(async (admin) => {
    const found = await admin.fetchTopicMetadata({ topics: [...topics] })
    return new Map(found.topics.map(({ name, partitions }) => [name, partitions.length]))
  })

/** Hands over every message of these stretches once, each partition's in order, and leaves no trace in Kafka. */
export const readTopics = async (
  kafka: Kafka,
  stretches: readonly Stretch[],
  onFetch: (fetch: Pick<Fetch, 'topic' | 'partition' | 'messages'>) => Promise<void>,
): Promise<void> => {
  const left = new Map(stretches.filter(({ from, until }) => from < until).map((each) => [placeOf(each), { ...each }]))
  if (left.size === 0) return
  const groupId = `weir-reader-${randomUUID()}`

  const { done, resolve, reject } = settleable()
  const hasRead = ({ next, ...place }: { topic: string; partition: number; next: number }): void => {
    const stretch = left.get(placeOf(place))
    if (stretch) stretch.from = Math.max(stretch.from, next)
    if (stretch && stretch.from >= stretch.until) left.delete(placeOf(place))
    if (left.size === 0) resolve()
  }
  const consumer = await kafka.consume({
    groupId,
    topics: [...new Set([...left.values()].map(({ topic }) => topic))],
    fromBeginning: true,
    startAt: [...left.values()].map(({ topic, partition, from }) => ({ topic, partition, offset: from })),
    commits: false,
    partitionsAtOnce: 4,
    onFetch: async ({ topic, partition, messages, next }) => {
      const stretch = left.get(placeOf({ topic, partition }))
      if (!stretch) return
      const wanted = messages.filter(({ offset }) => offset >= stretch.from && offset < stretch.until)
      if (wanted.length > 0) await onFetch({ topic, partition, messages: wanted }).catch(reject)
      hasRead({ topic, partition, next })
    },
    onNothing: hasRead,
    crash: reject,
  })
  try {
    await done
  } finally {
    await consumer.close()
    await kafka.withAdmin((admin) => admin.deleteGroups([groupId]))
  }
}

const settleable = () => {
  let settle = { resolve: (): void => {}, reject: (_: Error): void => {} }
  const done = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject }
  })
  return { done, ...settle }
}
