import { LRUCache } from 'lru-cache'
import type { StoredKey } from '#ledger/keys.js'

// How long a key is taken from memory without asking Postgres. While the edge listens, Postgres notifies it of every
// change to a key, and the key is forgotten at once. While it cannot listen, this is how long a revoked key may go on
// working.
const freshWhileListening = 30_000
const freshWhileDeaf = 2_000
/** How long a key that was seen goes on working while Postgres is away. */
export const usableFor = 300_000
/** How long a text that is no key is refused without asking Postgres. */
const absentFor = 2_000

/** What the listener to changes of keys calls: for each change, and when it begins or ceases to hear of them. */
export type KeyChanges = { onMessage: (keyId: string) => void; onUp: () => void; onDown: () => void }

/**
 * A key, with the moment of its end by the clock of this memory. Without its hash: Node cuts small buffers out of blocks of 8 KiB, and
 * each hash that is kept may hold a block.
 */
export type KnownKey = Omit<StoredKey, 'hash' | 'expiresIn'> & { endsAt: number }

/** `era` counts the times that listening began: what was seen in an earlier era may have changed unnoticed. */
type Seen = { key: KnownKey; since: number; era: number }
/** When a query to Postgres began, and how many changes there had been, so that an outdated answer is not kept. */
export type Moment = { changes: number; since: number }

export type KeyMemory = {
  /** What is known without asking: a key, that there is none (null), or nothing certain. */
  recall: (name: string) => KnownKey | null | undefined
  /** A key seen in the last minutes, for while Postgres cannot be asked. */
  lastSeen: (name: string) => KnownKey | undefined
  /** To be called before Postgres is asked; its result goes into `keep`. */
  begin: () => Moment
  keep: (name: string, key: KnownKey | undefined, asked: Moment) => void
  changes: KeyChanges
}

/** What the edge remembers of keys, by the hash of their text: it holds no secret. */
export const createKeyMemory = (now: () => number): KeyMemory => {
  const known = new LRUCache<string, Seen>({ max: 10_000, dispose: ({ key }, name) => dropName(key.keyId, name) })
  // By which names a key is known: one as a rule. Without it each change of a key would look at all that are known; thousands of keys
  // that are issued together then held up the edge.
  const namesOf = new Map<string, string[]>()
  // Apart from the keys, so that guessed texts do not push keys out.
  const absent = new LRUCache<string, number>({ max: 10_000 })
  let isListening = false
  let era = 0
  let changes = 0

  const dropName = (keyId: string, dropped: string): void => {
    const others = (namesOf.get(keyId) ?? []).filter((name) => name !== dropped)
    if (others.length > 0) namesOf.set(keyId, others)
    else namesOf.delete(keyId)
  }

  const isFresh = (seen: Seen): boolean =>
    seen.era === era && now() - seen.since < (isListening ? freshWhileListening : freshWhileDeaf)

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
      // Some key changed while Postgres was asked: the answer may be from before that.
      if (asked.changes !== changes) return
      known.delete(name)
      if (!key) return void absent.set(name, asked.since)
      known.set(name, { key, since: asked.since, era })
      namesOf.set(key.keyId, [...(namesOf.get(key.keyId) ?? []), name])
    },
    changes: {
      onMessage: (keyId) => {
        changes++
        // To clear it touches all of its ten thousand places.
        if (absent.size > 0) absent.clear()
        for (const name of namesOf.get(keyId) ?? []) known.delete(name)
      },
      // Changes made while the edge did not listen are lost: every key is asked for again, and stays usable until then.
      onUp: () => {
        isListening = true
        changes++
        era++
        absent.clear()
      },
      onDown: () => {
        isListening = false
      },
    },
  }
}
