import { reasonOf } from '../health/health.js'
import type { Log } from '../health/log.js'
import { placeOf, type TopicPartition } from './partitions.js'

// kafkajs fetches again only when every partition of the last fetch is done: work that takes longer goes on aside.
const asideAfter = 500
// The same, for a large piece of work while small ones come of other partitions.
const largeAsideAfter = 30
// With more of them at once, each would only take longer.
const mostLargeAside = 4
// For how long after a small piece of work the next one is thought to be near.
const smallFor = 10_000
const firstPause = 250
const longestPause = 5_000

/**
 * Keeps the partitions of one consumer apart: one that fails or hangs holds up no other. It is paused, and fetched anew after
 * a while from where it stopped; until then nothing of it is kept in memory.
 */
export const createPartitionWork = (deps: {
  /** Leaves a partition out of the fetches from now on. */
  pause: (at: TopicPartition) => unknown
  /** Takes it in again, from the first message whose work was not done. */
  resume: (at: TopicPartition) => unknown
  /** How many unpacked bytes may be worked on aside: with more, the next fetch has to wait. */
  mostBytesAside: number
  /** Work on fewer unpacked bytes than this is small, and does not wait for the large work of another partition; without it, no work is small. */
  smallBelow?: number | undefined
  log: Log
}) => {
  /** How often in a row a partition's work has failed. */
  const failures = new Map<string, number>()
  /** When a partition last had a small piece of work. */
  const lastSmall = new Map<string, number>()
  const underWay = new Set<Promise<boolean>>()
  let aside = 0
  let bytesAside = 0
  let isStopped = false

  /** Whether the work was done; where it was not, its partition is paused for a while. */
  const attempt = async (at: TopicPartition, work: () => Promise<void>): Promise<boolean> => {
    const place = placeOf(at)
    try {
      await work()
      failures.delete(place)
      return true
    } catch (error) {
      if (isStopped) return false
      const count = failures.get(place) ?? 0
      failures.set(place, count + 1)
      const pause = Math.min(firstPause * 2 ** count, longestPause)
      // Only where: `at` may be a whole fetch, with the records in it.
      const { topic, partition } = at
      deps.log.error({ err: error, topic, partition, reason: reasonOf(error), pause }, 'partition failed, trying again')
      deps.pause(at)
      setTimeout(deps.resume, pause, at).unref()
      return false
    }
  }

  /** How long the next fetch waits for this piece of work. Without anybody to make room for, that saves many small fetches. */
  const patienceWith = (place: string, bytes: number): number => {
    // One that failed last time is not waited for at all.
    if (failures.has(place)) return 0
    if (deps.smallBelow === undefined) return asideAfter
    const now = performance.now()
    if (bytes < deps.smallBelow) {
      lastSmall.set(place, now)
      return asideAfter
    }
    if (aside >= mostLargeAside) return asideAfter
    const isSmallNear = [...lastSmall].some(([other, at]) => other !== place && now - at < smallFor)
    return isSmallNear ? largeAsideAfter : asideAfter
  }

  return {
    /**
     * Does the work on what a fetch brought of a partition. Resolves as soon as other partitions may be fetched again: the work
     * is done, or it has failed and its partition waits, or it takes so long that it goes on aside. Never rejects.
     */
    take: async (at: TopicPartition, bytes: number, work: () => Promise<void>): Promise<void> => {
      const patience = patienceWith(placeOf(at), bytes)
      const running: Promise<boolean> = attempt(at, work).finally(() => underWay.delete(running))
      underWay.add(running)
      if (await endsWithin(running, patience)) return
      while (bytesAside + bytes > deps.mostBytesAside && underWay.has(running)) await Promise.race(underWay)
      if (!underWay.has(running)) return
      aside++
      bytesAside += bytes
      deps.pause(at)
      void running.then((isDone) => {
        aside--
        bytesAside -= bytes
        if (isDone) deps.resume(at)
      })
    },
    /** Whether some work goes on aside: its partition is not fetched until it is done. */
    hasAside: (): boolean => aside > 0,
    ended: async (): Promise<void> => {
      await Promise.all(underWay)
    },
    /** From now on work that fails is left: it is not fetched again here. */
    stop: (): void => {
      isStopped = true
    },
  }
}

const endsWithin = (running: Promise<unknown>, ms: number): Promise<boolean> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms, false)
    void running.then(() => {
      clearTimeout(timer)
      resolve(true)
    })
  })
