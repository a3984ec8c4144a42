import { setImmediate as nextRound } from 'node:timers/promises'

// Long enough that it costs nothing, short enough that heartbeats, other partitions and other requests do not notice.
const longestStretch = 5

/** For long loops: awaited in each round, it lets everything else have its turn once the loop has run for 5 ms. */
export type Pause = () => Promise<void> | undefined

export const createPauses = (now: () => number = () => performance.now()): Pause => {
  let since = now()
  return () => {
    if (now() - since < longestStretch) return undefined
    return nextRound().then(() => {
      since = now()
    })
  }
}
