import type { Metrics } from '../health/metrics.js'
import { placeOf, type TopicPartition } from './partitions.js'

/** How many messages wait in each partition. One that moved to another process would otherwise be shown as it was, for ever. */
export const createLagGauge = (metrics: Metrics, help: string) => {
  const gauge = metrics.gauge('consumer_lag', help, ['topic', 'partition'])
  const shown = new Map<string, TopicPartition>()
  return {
    set: ({ topic, partition }: TopicPartition, messages: number): void => {
      shown.set(placeOf({ topic, partition }), { topic, partition })
      gauge.set({ topic, partition }, messages)
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
