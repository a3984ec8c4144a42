import { LRUCache } from 'lru-cache'
import type { StoredKey } from '#ledger/keys.js'

// While changes are told; without that, as long as a revocation may take to hold.
const freshFor = 30_000
const freshUntold = 2_000
/** How long a key that was seen goes on working while Postgres is away. */
export const usableFor = 300_000
const absentFor = 2_000

/** Hears of changes to keys, and of when it can and cannot hear. */
export type KeyChanges = { onMessage: (keyId: string) => void; onUp: () => void; onDown: () => void }

type Seen = { key: StoredKey; since: number; era: number }
/** What a question to Postgres remembers of its moment, so that an answer overtaken by a change is not kept. */
export type Moment = { changes: number; since: number }

export type KeyMemory = {
  /** What is known without asking: a key, that there is none (null), or nothing certain. */
  recall: (name: string) => StoredKey | null | undefined
  /** A key seen in the last minutes, for the time when nobody can be asked. */
  lastSeen: (name: string) => StoredKey | undefined
  begin: () => Moment
  keep: (name: string, key: StoredKey | undefined, asked: Moment) => void
  changes: KeyChanges
}

/** What the edge remembers of keys, by the hash of their text: it holds no secret. */
export const createKeyMemory = (now: () => number): KeyMemory => {
  const known = new LRUCache<string, Seen>({ max: 10_000 })
  // Apart, so that guesses do not push keys out.
  const absent = new LRUCache<string, number>({ max: 10_000 })
  let isTold = false
  let era = 0
  let changes = 0

  const isFresh = (seen: Seen): boolean => seen.era === era && now() - seen.since < (isTold ? freshFor : freshUntold)

  return {
    recall: (name) => {
      const seen = known.get(name)
      if (seen && isFresh(seen)) return seen.key
      return now() - (absent.get(name) ?? Number.NEGATIVE_INFINITY) < absentFor ? null : undefined
    },
    lastSeen: (name) => {
      const seen = known.get(name)
      return seen && now() - seen.since < usableFor ? seen.key : undefined
    },
    begin: () => ({ changes, since: now() }),
    keep: (name, key, asked) => {
      // Something changed while Postgres was asked: the answer may be from before.
      if (asked.changes !== changes) return
      known.delete(name)
      if (key) known.set(name, { key, since: asked.since, era })
      else absent.set(name, asked.since)
    },
    changes: {
      onMessage: (keyId) => {
        changes++
        absent.clear()
        for (const [name, { key }] of known.entries()) if (key.keyId === keyId) known.delete(name)
      },
      // What was told while nobody listened is lost: everything is asked for again, and stays usable until then.
      onUp: () => {
        isTold = true
        changes++
        era++
        absent.clear()
      },
      onDown: () => {
        isTold = false
      },
    },
  }
}
