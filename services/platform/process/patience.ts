import { setTimeout as sleep } from 'node:timers/promises'
import { reasonOf } from '../health/health.js'
import type { Log } from '../health/log.js'

/** How a service starts while a part is away: it waits for that part, and its readiness says so. */
export type Patience = ReturnType<typeof createPatience>

const firstPause = 500
const longestPause = 5_000

export const createPatience = (log: Log) => {
  const reasons = new Map<string, string>()
  return {
    /** Tries until the work succeeds, with growing pauses. */
    until: async <T>(part: string, work: () => Promise<T>): Promise<T> => {
      reasons.set(part, 'not reached yet')
      for (let pause = firstPause; ; pause = Math.min(2 * pause, longestPause)) {
        try {
          const result = await work()
          reasons.delete(part)
          return result
        } catch (error) {
          reasons.set(part, reasonOf(error))
          log.warn({ part, reason: reasonOf(error), pause }, 'cannot start yet, waiting for a part')
          await sleep(pause)
        }
      }
    },
    /** Throws, saying why, while that part is waited for. */
    check: (part: string): void => {
      const reason = reasons.get(part)
      if (reason !== undefined) throw new Error(`waited for since the start: ${reason}`)
    },
  }
}
