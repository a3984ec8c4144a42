import { LRUCache } from 'lru-cache'
import type { Log } from '#platform/health/log.js'

// The last use of a key is written at most once in this time.
const onceIn = 60_000

/** Collects which keys are used and writes that to Postgres in one statement now and then; never fails a request. */
export const createLastUse = (deps: {
  write: (keyIds: readonly string[]) => Promise<void>
  now: () => number
  log: Log
}): { note: (keyId: string) => void; flush: () => Promise<void> } => {
  const noted = new LRUCache<string, number>({ max: 10_000 })
  const pending = new Set<string>()
  return {
    note: (keyId) => {
      if (deps.now() - (noted.get(keyId) ?? Number.NEGATIVE_INFINITY) < onceIn) return
      noted.set(keyId, deps.now())
      pending.add(keyId)
    },
    flush: async () => {
      if (pending.size === 0) return
      const keyIds = [...pending]
      pending.clear()
      try {
        await deps.write(keyIds)
      } catch (error) {
        deps.log.warn({ err: error, keys: keyIds.length }, 'last use of keys not written')
      }
    },
  }
}
