import { LRUCache } from 'lru-cache'
import type { Mend } from '#ledger/audit.js'
import type { Log } from '#platform/health/log.js'

// Of one organisation, in a day: a program that sends if_version with each of its uploads must not fill the audit.
const mostOfOne = 1000
const mostPending = 10_000
const aDay = 86_400_000

/**
 * Collects uploads that said which versions they replace, as the console does where somebody mends a record, and writes them to the
 * audit in one statement now and then; never fails a request. What is collected when an edge is killed is not noted.
 */
export const createMends = (deps: {
  write: (mends: readonly Mend[]) => Promise<void>
  now: () => number
  log: Log
}) => {
  const noted = new LRUCache<string, { since: number; count: number }>({ max: 10_000 })
  let pending: Mend[] = []
  return {
    note: (mend: Mend): void => {
      const known = noted.get(mend.org)
      const today = known && deps.now() - known.since < aDay ? known : { since: deps.now(), count: 0 }
      noted.set(mend.org, today)
      if (today.count >= mostOfOne || pending.length >= mostPending) return
      today.count += 1
      pending.push(mend)
    },
    flush: async (): Promise<void> => {
      if (pending.length === 0) return
      const mends = pending
      pending = []
      await deps
        .write(mends)
        .catch((error: unknown) => deps.log.warn({ err: error, mends: mends.length }, 'mends not noted in the audit'))
    },
  }
}
