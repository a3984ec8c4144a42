import { LRUCache } from 'lru-cache'
import { hashKey, keyIdOf } from '#platform/api-key.js'
import type { Log } from '#platform/log.js'
import { Unavailable } from '../request-error.js'
import type { FindCaller } from './authenticate.js'
import type { StoredKey } from './sql/find-key.js'

const freshFor = 30_000
const usableFor = 300_000
const absentFor = 2_000

/** Keys by their hash, so that the cache holds no secret; Postgres is asked for what it does not hold. */
export const createFindCaller = (deps: {
  findKey: (hash: Buffer) => Promise<StoredKey | undefined>
  noteUse: (keyId: string) => void
  now: () => number
  log: Log
}): FindCaller => {
  const { findKey, noteUse, now, log } = deps
  const known = new LRUCache<string, { key: StoredKey; since: number }>({ max: 10_000 })
  // Apart, so that guesses do not push keys out.
  const absent = new LRUCache<string, number>({ max: 10_000 })
  const asked = new Map<string, Promise<StoredKey | undefined>>()

  const ask = async (name: string, hash: Buffer): Promise<StoredKey | undefined> => {
    const key = await findKey(hash)
    if (key) known.set(name, { key, since: now() })
    else {
      known.delete(name)
      absent.set(name, now())
    }
    return key
  }

  // However many requests show a key at once, it is one question.
  const askOnce = (name: string, hash: Buffer): Promise<StoredKey | undefined> => {
    const underWay = asked.get(name)
    if (underWay) return underWay
    const question = ask(name, hash).finally(() => asked.delete(name))
    asked.set(name, question)
    return question
  }

  const find = async (hash: Buffer): Promise<StoredKey | undefined> => {
    const name = hash.toString('base64')
    const hit = known.get(name)
    if (hit && now() - hit.since < freshFor) return hit.key
    if (now() - (absent.get(name) ?? Number.NEGATIVE_INFINITY) < absentFor) return undefined
    try {
      return await askOnce(name, hash)
    } catch (cause) {
      if (!hit || now() - hit.since >= usableFor)
        throw new Unavailable('API keys cannot be checked at the moment', { cause })
      log.warn({ err: cause, key_id: hit.key.keyId }, 'key taken as it was last seen')
      return hit.key
    }
  }

  return async (text) => {
    // A mistyped or made-up key of our form costs nobody a query.
    if (text.startsWith('weir_') && keyIdOf(text) === undefined) return undefined
    const key = await find(hashKey(text))
    if (!key || (key.expiresAt !== null && key.expiresAt <= now())) return undefined
    noteUse(key.keyId)
    return { orgId: key.orgId, keyId: key.keyId, scopes: key.scopes }
  }
}
