import type { Metrics } from '../health/metrics.js'
import { placeOf, type TopicPartition } from './partitions.js'
import type { Received } from './wire/record-batch.js'

type Read = TopicPartition & { highWatermark: number; messages: readonly Pick<Received, 'offset' | 'timestamp'>[] }

/**
 * How many messages wait in each partition, and for how long the oldest of them has. A partition that moved to another process would
 * otherwise be shown as it was, for ever.
 */
export const createLagGauge = (
  metrics: Metrics,
  help: string,
  oldest: { name: string; help: string },
  now: () => number = Date.now,
) => {
  const labels = ['topic', 'partition']
  const gauge = metrics.gauge('consumer_lag', help, labels)
  const shown = new Map<string, TopicPartition & { since: number | undefined }>()
  // Only partitions in which something waits: an idle system with hundreds of them shows none.
  metrics.gauge(oldest.name, oldest.help, labels, (age) => {
    age.reset()
    for (const { topic, partition, since } of shown.values())
      if (since !== undefined) age.set({ topic, partition }, Math.max(0, now() - since) / 1000)
  })
  const set = ({ topic, partition }: TopicPartition, messages: number, since?: number): void => {
    shown.set(placeOf({ topic, partition }), { topic, partition, since: messages > 0 ? since : undefined })
    gauge.set({ topic, partition }, messages)
  }
  return {
    /** This much was read and is not done yet. */
    begun: ({ highWatermark, messages: [first], ...place }: Read): void =>
      set(place, highWatermark - (first?.offset ?? highWatermark), first?.timestamp),
    /** It is done. What is left came after its last message. */
    done: ({ highWatermark, messages, ...place }: Read): void => {
      const last = messages.at(-1)
      set(place, highWatermark - 1 - (last?.offset ?? highWatermark - 1), last?.timestamp)
    },
    /** Takes away what is shown of these topics' partitions, except for those that this process still has. */
    keepOnly: (topics: readonly string[], assigned: readonly TopicPartition[]): void => {
      const kept = new Set(assigned.map(placeOf))
      for (const [place, { topic, partition }] of shown) {
        if (!topics.includes(topic) || kept.has(place)) continue
        gauge.remove({ topic, partition })
        shown.delete(place)
      }
    },
  }
}
