import { reasonOf } from '#platform/health.js'
import type { Fetch } from '#platform/kafka.js'
import { placeOf } from '#platform/place-of.js'

export type FailingFetches = {
  handle: (fetch: Fetch) => Promise<void>
  /** Throws the last failure while fetches fail: Postgres and Kafka may answer, and yet take nothing. */
  check: () => void
}

// A fetch that fails is tried again every few seconds, here or where its partition went: older failures are over.
const isOverAfter = 30_000

export const watchFailures = (
  handle: (fetch: Fetch) => Promise<void>,
  now: () => number = Date.now,
): FailingFetches => {
  const failures = new Map<string, { at: number; error: unknown }>()
  return {
    handle: async (fetch) => {
      const place = placeOf(fetch)
      try {
        await handle(fetch)
        failures.delete(place)
      } catch (error) {
        failures.set(place, { at: now(), error })
        throw error
      }
    },
    check: () => {
      for (const [place, { at, error }] of failures)
        if (now() - at < isOverAfter) throw new Error(`batches of ${place} are not decided or told: ${reasonOf(error)}`)
    },
  }
}
