import { timingSafeEqual } from 'node:crypto'
import { hashKey, keyIdOf } from '#ledger/key-text.js'
import type { StoredKey } from '#ledger/keys.js'
import type { Log } from '#platform/health/log.js'
import { within } from '#platform/process/within.js'
import { Unavailable } from '../http/request-error.js'
import type { FindCaller } from './authenticate.js'
import type { KeyMemory } from './key-memory.js'

// A key that was seen lately need not wait longer for a Postgres that hangs.
const patience = 1_000
// After a question that failed, keys are taken as they were last seen for so long before the next one.
const restFor = 1_000

export type FindCallerDeps = {
  findKey: (hash: Buffer) => Promise<StoredKey | undefined>
  memory: KeyMemory
  /** The one key that need not have our form. */
  demoKey: string | undefined
  noteUse: (keyId: string) => void
  now: () => number
  log: Log
}

/** Who a key belongs to: from memory where that is certain, from Postgres where it is not. */
export const createFindCaller = (deps: FindCallerDeps): FindCaller => {
  const { findKey, memory, noteUse, now, log } = deps
  const demoHash = deps.demoKey === undefined ? nobody : hashKey(deps.demoKey)
  const asked = new Map<string, { changes: number; answer: Promise<StoredKey | undefined> }>()
  let restUntil = Number.NEGATIVE_INFINITY

  // However many requests show a key at once, it is one question; but never one from before a change.
  const ask = (name: string, hash: Buffer): Promise<StoredKey | undefined> => {
    const moment = memory.begin()
    const underWay = asked.get(name)
    if (underWay?.changes === moment.changes) return underWay.answer
    const answer = findKey(hash)
      .then((key) => {
        const verified = verify(key, hash)
        memory.keep(name, verified, moment)
        return verified
      })
      .finally(() => {
        if (asked.get(name)?.answer === answer) asked.delete(name)
      })
    asked.set(name, { changes: moment.changes, answer })
    return answer
  }

  const find = async (hash: Buffer): Promise<StoredKey | undefined> => {
    const name = hash.toString('base64')
    const certain = memory.recall(name)
    if (certain !== undefined) return certain ?? undefined
    if (memory.lastSeen(name) && now() < restUntil) return memory.lastSeen(name)
    try {
      return await (memory.lastSeen(name) ? within(patience, ask(name, hash)) : ask(name, hash))
    } catch (cause) {
      restUntil = now() + restFor
      // Looked for only now: a revocation may have come in while Postgres was asked.
      const seen = memory.lastSeen(name)
      if (!seen) throw new Unavailable('API keys cannot be checked at the moment', { cause })
      log.warn({ err: cause, key_id: seen.keyId }, 'key taken as it was last seen')
      return seen
    }
  }

  return async (text) => {
    const hash = hashKey(text)
    // A mistyped or made-up key costs nobody a query.
    if (keyIdOf(text) === undefined && !timingSafeEqual(hash, demoHash)) return undefined
    const key = await find(hash)
    if (!key || (key.expiresAt !== null && key.expiresAt <= now())) return undefined
    noteUse(key.keyId)
    return { orgId: key.orgId, keyId: key.keyId, scopes: key.scopes, rates: key.rates }
  }
}

// No text has this hash; it stands in where there is none, so that a miss is compared just like a hit.
const nobody = Buffer.alloc(32)

const verify = (key: StoredKey | undefined, shown: Buffer): StoredKey | undefined =>
  timingSafeEqual(key?.hash ?? nobody, shown) ? key : undefined
