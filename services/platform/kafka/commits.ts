import { reasonOf } from '../health/health.js'
import type { Log } from '../health/log.js'
import { placeOf } from './partitions.js'

/** Everything of a partition before `offset` is done. */
export type Done = { topic: string; partition: number; offset: number }

export type Commits = ReturnType<typeof createCommits>

const tryAgainAfter = 1_000

/** Commits offsets beside the work, one commit at a time: the next owner of a partition does again what is not committed. */
export const createCommits = (deps: { commit: (all: Done[]) => Promise<void>; log: Log }) => {
  let due = new Map<string, Done>()
  let membership = 0
  let running: Promise<void> | undefined

  const run = async (): Promise<void> => {
    while (due.size > 0) {
      const [all, asMember] = [due, membership]
      due = new Map()
      try {
        await deps.commit([...all.values()])
      } catch (error) {
        deps.log.warn({ reason: reasonOf(error), partitions: all.size }, 'offsets not committed')
        if (asMember !== membership) continue
        // What was done meanwhile is further on.
        due = new Map([...all, ...due])
        setTimeout(start, tryAgainAfter).unref()
        return
      }
    }
  }
  const start = (): void => {
    running ??= run().finally(() => {
      running = undefined
    })
  }

  return {
    /** Committed soon, perhaps together with others; nothing waits for it. */
    add: (done: Done): void => {
      due.set(placeOf(done), done)
      start()
    },
    /** Leaves the rest to the next owners of the partitions: the group has changed, and this consumer begins where Kafka says. */
    forget: (): void => {
      membership++
      due.clear()
    },
    /** Resolves once Kafka has all, or could not take it. */
    ended: async (): Promise<void> => {
      await running
    },
  }
}
