import { placeOf } from '../kafka/partitions.js'
import { reasonOf } from './health.js'

export type RecentFailures = {
  /** Does work for a partition, and remembers whether it failed. */
  watch: <T>(at: { topic: string; partition: number }, work: () => Promise<T>) => Promise<T>
  /** Throws while the last work for some partition has failed: Postgres and Kafka may answer, and yet take nothing. */
  check: () => void
}

// What fails is tried again within seconds, here or by another instance: older failures are over.
const isOverAfter = 30_000

export const createRecentFailures = (
  tell: (place: string, reason: string) => string,
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
        if (now() - at < isOverAfter) throw new Error(tell(place, reasonOf(error)))
    },
  }
}
