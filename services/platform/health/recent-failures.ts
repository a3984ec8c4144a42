import { placeOf } from '../kafka/partitions.js'
import { reasonOf } from './health.js'

/** A readiness check for work on partitions: Postgres and Kafka may answer a ping and yet refuse every write. */
export type RecentFailures = {
  /** Does work for a partition, and remembers whether it failed. */
  watch: <T>(at: { topic: string; partition: number }, work: () => Promise<T>) => Promise<T>
  /** Throws while the last work for some partition has failed. */
  check: () => void
}

// Failed work is tried again within seconds. A partition whose failure is older than this went to another instance.
const isOverAfter = 30_000

export const createRecentFailures = (
  describe: (place: string, reason: string) => string,
  now: () => number = Date.now,
): RecentFailures => {
  const failures = new Map<string, { at: number; error: unknown }>()
  return {
    watch: async (at, work) => {
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
    check: () => {
      for (const [place, { at, error }] of failures)
        if (now() - at < isOverAfter) throw new Error(describe(place, reasonOf(error)))
    },
  }
}
