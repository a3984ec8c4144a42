import type { Check } from '#platform/health/health.js'
import { within } from '#platform/process/within.js'
import { usableFor } from './key-memory.js'

// Below the time that readiness gives a check: the operator is to read this sentence, not "no answer".
const answerWithin = 2_000

/** Whether Postgres answers; where it does not, what that means for those who hold a key. */
export const createCheckKeys =
  (ask: () => Promise<unknown>): Check =>
  async () => {
    try {
      await within(answerWithin, ask())
    } catch (cause) {
      throw new Error(`keys seen in the last ${usableFor / 60_000} minutes still work, others cannot be checked`, {
        cause,
      })
    }
  }
