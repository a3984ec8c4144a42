import { placeOf, type TopicPartition } from '../kafka/partitions.js'
import { reasonOf } from './health.js'

// Failed work is tried again within seconds. A partition whose failure is older than this went to another instance.
const isOverAfter = 30_000

/** A readiness check for work on partitions: Postgres and Kafka may answer a ping and yet refuse every write. */
export const createRecentFailures = (
  describe: (place: string, reason: string) => string,
  now = () => performance.now(),
) => {
  const failures = new Map<string, { at: number; error: unknown }>()
  return {
    /** Does work for a partition, and remembers whether it failed. */
    watch: async <T>(at: TopicPartition, work: () => Promise<T>): Promise<T> => {
      const place = placeOf(at)
      try {
        const result = await work()
        failures.delete(place)
        return result
      } catch (error) {
        failures.set(place, { at: now(), error })
        throw error
      }
    },
    /** Throws while the last work for some partition has failed. */
    check: (): void => {
      for (const [place, { at, error }] of failures)
        if (now() - at < isOverAfter) throw new Error(describe(place, reasonOf(error)))
    },
  }
}
