import type { HeldQueue, UnderWay } from '#ledger/webhooks/queues.js'
import type { Log } from '#platform/health/log.js'
import { createTally } from '#platform/process/tally.js'

// So many deliveries may be under way here at once, each with its body and a connection; and of one organisation, whose receivers may all be
// slow. A queue takes one place.
const usualBounds = { atOnce: 128, ofOne: 16, lookEveryMs: 1_000 }

/** Takes queues that are due, again and again, and works on them side by side: a slow receiver keeps one place, and nobody else. */
export const keepWorking = (deps: {
  claim: (most: number, mostOfOrg: number, underWay: readonly UnderWay[]) => Promise<HeldQueue[]>
  workOn: (queue: HeldQueue, signal: AbortSignal) => Promise<void>
  log: Log
  bounds?: typeof usualBounds
}) => {
  const { atOnce, ofOne, lookEveryMs } = deps.bounds ?? usualBounds
  const underWay = createTally()
  const orgs = new Map<string, number>()
  const working = new Set<Promise<void>>()
  const stopping = new AbortController()
  let isLooking = false
  let isWanted = false
  let lastLook: unknown

  const begin = (queue: HeldQueue): void => {
    const count = (more: number) => {
      underWay.add(queue.org, more)
      orgs.set(queue.org, underWay.of(queue.org))
      if (underWay.of(queue.org) === 0) orgs.delete(queue.org)
    }
    count(1)
    const work = deps
      .workOn(queue, stopping.signal)
      .catch((error: unknown) => deps.log.warn({ err: error }, 'a webhook is left to whoever comes next'))
      .finally(() => {
        count(-1)
        working.delete(work)
        void look()
      })
    working.add(work)
  }

  /** Takes what is due. Called again meanwhile, it looks once more. */
  const look = async (): Promise<void> => {
    isWanted = true
    if (isLooking || stopping.signal.aborted) return
    isLooking = true
    try {
      while (isWanted && !stopping.signal.aborted && underWay.all() < atOnce) {
        isWanted = false
        const counts = [...orgs].map(([org, count]) => ({ org, count }))
        const taken = await deps.claim(atOnce - underWay.all(), ofOne, counts)
        for (const queue of taken) begin(queue)
      }
      lastLook = undefined
    } catch (error) {
      if (lastLook === undefined) deps.log.warn({ err: error }, 'webhooks that are due cannot be found now')
      lastLook = error
    } finally {
      isLooking = false
    }
  }
  const timer = setInterval(() => void look(), lookEveryMs)

  return {
    look,
    underWay: underWay.all,
    /** Throws, saying why, while what is due cannot be found. */
    check: (): void => {
      if (lastLook !== undefined) throw lastLook
    },
    /** Ends attempts that are under way, which are made again elsewhere. */
    stop: async (): Promise<void> => {
      clearInterval(timer)
      stopping.abort()
      await Promise.all(working)
    },
  }
}
