import type { Log } from '#platform/log.js'

// A step is over in milliseconds, and nobody waits behind it.
const rowsAtOnce = 1000

/** Deletes what was noted of old requests, in small steps; what fails is tried again the next time. */
export const createPruning =
  (deps: { prune: (most: number) => Promise<number>; log: Log }) => async (): Promise<void> => {
    let pruned = 0
    try {
      for (let step = rowsAtOnce; step === rowsAtOnce; pruned += step) step = await deps.prune(rowsAtOnce)
    } catch (error) {
      deps.log.warn({ err: error }, 'could not prune old requests')
    }
    if (pruned > 0) deps.log.info({ requests: pruned }, 'old requests pruned')
  }
