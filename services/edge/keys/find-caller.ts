import { timingSafeEqual } from 'node:crypto'
import type { FindCaller } from '#http/authenticate.js'
import { Unavailable } from '#http/request-error.js'
import { hashKey, keyIdOf } from '#ledger/key-text.js'
import type { StoredKey } from '#ledger/keys.js'
import type { Check } from '#platform/health/health.js'
import type { Log } from '#platform/health/log.js'
import { within } from '#platform/process/within.js'
import { type KeyMemory, type KnownKey, usableFor } from './key-memory.js'

// While Postgres hangs, a request whose key was seen lately waits this long, and is then let in by what was seen.
const patience = 1_000
// After a query that failed, keys that were seen lately are let in for this long without asking Postgres again.
const restFor = 1_000

export type FindCallerDeps = {
  findKey: (hash: Buffer) => Promise<StoredKey | undefined>
  memory: KeyMemory
  /** The one key that need not have the form of keys that are issued. */
  demoKey: string | undefined
  noteUse: (keyId: string) => void
  /** The clock that the memory goes by too: it never steps, as the time of day does when it is set. */
  now: () => number
  log: Log
}

/** Finds out who a key belongs to: from memory where that is certain, from Postgres where it is not. */
export const createFindCaller = (deps: FindCallerDeps): FindCaller => {
  const { findKey, memory, noteUse, now, log } = deps
  const demoHash = deps.demoKey === undefined ? noHash : hashKey(deps.demoKey)
  const asked = new Map<string, { changes: number; answer: Promise<KnownKey | undefined> }>()
  let restUntil = Number.NEGATIVE_INFINITY

  // Requests that show the same key at once share one query, unless some key has changed since that query began.
  const ask = (name: string, hash: Buffer): Promise<KnownKey | undefined> => {
    const moment = memory.begin()
    const underWay = asked.get(name)
    if (underWay?.changes === moment.changes) return underWay.answer
    const answer = findKey(hash)
      .then((key) => {
        const known = verify(key, hash, moment.since)
        memory.keep(name, known, moment)
        return known
      })
      .finally(() => {
        if (asked.get(name)?.answer === answer) asked.delete(name)
      })
    asked.set(name, { changes: moment.changes, answer })
    return answer
  }

  const find = async (hash: Buffer): Promise<KnownKey | undefined> => {
    const name = hash.toString('base64')
    const certain = memory.recall(name)
    if (certain !== undefined) return certain ?? undefined
    if (memory.lastSeen(name) && now() < restUntil) return memory.lastSeen(name)
    try {
      return await (memory.lastSeen(name) ? within(patience, ask(name, hash)) : ask(name, hash))
    } catch (cause) {
      restUntil = now() + restFor
      // Looked up only now: the key may have been revoked while Postgres was asked.
      const seen = memory.lastSeen(name)
      if (!seen) throw new Unavailable('API keys cannot be checked at the moment', { cause })
      log.warn({ err: cause, key_id: seen.keyId }, 'key taken as it was last seen')
      return seen
    }
  }

  return async (text) => {
    const hash = hashKey(text)
    // A text that does not have the form of a key costs no query.
    if (keyIdOf(text) === undefined && !timingSafeEqual(hash, demoHash)) return undefined
    const key = await find(hash)
    if (!key || key.endsAt <= now()) return undefined
    noteUse(key.keyId)
    return {
      orgId: key.orgId,
      keyId: key.keyId,
      scopes: key.scopes,
      rates: key.rates,
      ...(key.isOperator && { isOperator: true }),
    }
  }
}

// Stands in where there is no key, so that a miss takes the same comparison as a hit; no text has this hash.
const noHash = Buffer.alloc(32)

const verify = (key: StoredKey | undefined, shown: Buffer, since: number): KnownKey | undefined => {
  if (!timingSafeEqual(key?.hash ?? noHash, shown) || !key) return undefined
  const { hash, expiresIn, ...known } = key
  return { ...known, endsAt: since + (expiresIn ?? Number.POSITIVE_INFINITY) }
}

// Less than readiness waits for a check, so that the operator reads the sentence below instead of "no answer".
const answerWithin = 2_000

/** Whether Postgres answers; where it does not, the problem says what that means for clients with a key. */
export const createCheckKeys =
  (ask: () => Promise<unknown>): Check =>
  async () => {
    try {
      await within(answerWithin, ask())
    } catch (cause) {
      throw new Error(`keys seen in the last ${usableFor / 60_000} minutes still work, others cannot be checked`, {
        cause,
      })
    }
  }
