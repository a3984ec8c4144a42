import { setImmediate as turn } from 'node:timers/promises'

// Long enough that it costs nothing, short enough that heartbeats and other partitions do not notice.
const longestStretch = 20

/** To be awaited in a long loop: once the loop has run for a while, everything else that waits has its turn. */
export const createBreathe = (): (() => Promise<void>) => {
  let since = performance.now()
  return async () => {
    if (performance.now() - since < longestStretch) return
    await turn()
    since = performance.now()
  }
}
