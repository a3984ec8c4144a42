import { LRUCache } from 'lru-cache'
import type { Log } from '#platform/health/log.js'

/** Requests of an organisation that were answered 429. */
export type LimitHits = { org: string; hits: number }

// Of more organisations that all meet their limits within two seconds, the first ones are forgotten.
const mostOrgs = 10_000

/** Collects who met a limit, and writes that to Postgres in one statement now and then; never fails a request. */
export const createLimitHits = (deps: { write: (hits: readonly LimitHits[]) => Promise<void>; log: Log }) => {
  const pending = new LRUCache<string, number>({ max: mostOrgs })
  return {
    note: (org: string): void => void pending.set(org, (pending.get(org) ?? 0) + 1),
    flush: async (): Promise<void> => {
      if (pending.size === 0) return
      const hits = [...pending.entries()].map(([org, count]) => ({ org, hits: count }))
      pending.clear()
      await deps
        .write(hits)
        .catch((error: unknown) => deps.log.warn({ err: error }, 'limits that were met not written'))
    },
  }
}
