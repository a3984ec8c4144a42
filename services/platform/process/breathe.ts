import { setImmediate as nextRound } from 'node:timers/promises'

// Long enough that it costs nothing, short enough that heartbeats, other partitions and other requests do not notice.
const longestStretch = 20

/** To be awaited in each round of a long loop; undefined while the loop has not run for long. */
export type Breathe = () => Promise<void> | undefined

/** Once a loop has run for 20 ms, everything else that waits has its turn. */
export const createBreathe = (now: () => number = () => performance.now()): Breathe => {
  let since = now()
  return () => {
    if (now() - since < longestStretch) return undefined
    return nextRound().then(() => {
      since = now()
    })
  }
}
