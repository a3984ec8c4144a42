import { describe, expect, it } from 'vitest'
import { createKeyText, hashKey } from '#ledger/key-text.js'
import type { StoredKey } from '#ledger/keys.js'
import { createCheckKeys, createFindCaller } from '../../../../services/edge/keys/find-caller.js'
import { createKeyMemory } from '../../../../services/edge/keys/key-memory.js'
import { silent } from '../edge.js'

const { keyId, key } = createKeyText()
const stored: StoredKey = { keyId, orgId: 'acme', hash: hashKey(key), scopes: null, expiresIn: null }
const caller = { orgId: 'acme', keyId, scopes: null }

const create = (keys: [string, StoredKey][] = [[key, stored]], demoKey?: string) => {
  const table = new Map(keys.map(([text, found]) => [hashKey(text).toString('hex'), { ...found, hash: hashKey(text) }]))
  const postgres = { isAway: false, hangs: false, queries: 0 }
  const clock = { ms: 0 }
  const used: string[] = []
  const memory = createKeyMemory(() => clock.ms)
  const find = createFindCaller({
    findKey: async (hash) => {
      postgres.queries++
      const found = table.get(hash.toString('hex'))
      if (postgres.hangs) await new Promise(() => {})
      await Promise.resolve()
      if (postgres.isAway) throw new Error('connection refused')
      return found
    },
    memory,
    demoKey,
    noteUse: (id) => used.push(id),
    now: () => clock.ms,
    log: silent,
  })
  memory.changes.onUp()
  return { find, table, postgres, clock, used, memory, ...memory.changes }
}

describe('a key', () => {
  it('is asked for once, however many requests show it at once', async () => {
    const { find, postgres, used } = create()
    expect(await Promise.all([find(key), find(key), find(key)])).toEqual([caller, caller, caller])
    expect(postgres.queries).toBe(1)
    expect(used).toEqual([keyId, keyId, keyId])
  })

  it('is remembered without the bytes that Postgres answered with: each of them may hold a whole block of memory', async () => {
    const { find, memory } = create()
    await find(key)
    const seen = memory.lastSeen(hashKey(key).toString('base64'))
    expect(seen).toMatchObject({ keyId })
    expect(Object.values(seen ?? {}).filter(ArrayBuffer.isView)).toEqual([])
  })

  it('that was mistyped, or was never of our form, costs no query', async () => {
    const { find, postgres } = create([['demo', stored]])
    for (const text of [`${key.slice(0, -1)}!`, 'weir_', 'demo', key.slice(1), `${key} `, key.toLowerCase()]) {
      expect(await find(text), text).toBeUndefined()
    }
    expect(postgres.queries).toBe(0)
  })

  it('may be of any form where the environment names it as the demo key; it is looked up all the same', async () => {
    const { find, table, postgres, onMessage } = create([['weir_by_hand', stored]], 'weir_by_hand')
    expect(await find('weir_by_hand')).toEqual(caller)
    expect(await find('weir_by_hanD')).toBeUndefined()
    expect(postgres.queries).toBe(1)
    table.clear()
    onMessage(keyId)
    expect(await find('weir_by_hand')).toBeUndefined()
  })

  it('whose hash is not the one that Postgres answers with is refused', async () => {
    const { find, table } = create()
    table.set(hashKey(key).toString('hex'), { ...stored, hash: hashKey('another') })
    expect(await find(key)).toBeUndefined()
  })

  it('is refused from the moment that it expires', async () => {
    const { find, clock } = create([[key, { ...stored, expiresIn: 10_000 }]])
    expect(await find(key)).toEqual(caller)
    clock.ms = 10_000
    expect(await find(key)).toBeUndefined()
  })
})

describe('a change to a key', () => {
  it('holds at once where it is told', async () => {
    const { find, table, onMessage } = create()
    await find(key)
    table.clear()
    expect(await find(key)).toEqual(caller)
    onMessage('of another key')
    expect(await find(key)).toEqual(caller)
    onMessage(keyId)
    expect(await find(key)).toBeUndefined()
  })

  it('holds within two seconds while nobody listens', async () => {
    const { find, table, clock, onDown } = create()
    await find(key)
    onDown()
    table.clear()
    clock.ms = 1999
    expect(await find(key)).toEqual(caller)
    clock.ms = 2000
    expect(await find(key)).toBeUndefined()
  })

  it('that nobody heard of holds as soon as somebody listens again', async () => {
    const { find, table, onDown, onUp } = create()
    await find(key)
    onDown()
    table.clear()
    onUp()
    expect(await find(key)).toBeUndefined()
  })

  it('is not lost on a question that was under way, nor on those who waited for it', async () => {
    const { find, table, postgres, onMessage } = create()
    const before = find(key)
    table.clear()
    onMessage(keyId)
    const after = find(key)
    expect([await before, await after]).toEqual([caller, undefined])
    expect(await find(key)).toBeUndefined()
    expect(postgres.queries).toBe(2)
  })

  it('is asked for every half a minute, should it never be told', async () => {
    const { find, table, clock } = create()
    await find(key)
    table.clear()
    clock.ms = 29_999
    expect(await find(key)).toEqual(caller)
    clock.ms = 30_000
    expect(await find(key)).toBeUndefined()
  })

  it('lets a key in that was refused just before: at once where it is told, else within two seconds', async () => {
    const { find, table, clock, postgres } = create([])
    expect(await find(key)).toBeUndefined()
    table.set(hashKey(key).toString('hex'), stored)
    expect(await find(key)).toBeUndefined()
    expect(postgres.queries).toBe(1)
    clock.ms = 2000
    expect(await find(key)).toEqual(caller)

    const told = create([])
    await told.find(key)
    told.table.set(hashKey(key).toString('hex'), stored)
    told.onMessage(keyId)
    expect(await told.find(key)).toEqual(caller)
  })
})

describe('while Postgres is away', () => {
  it('a key seen in the last minutes is taken; one not seen cannot be told', async () => {
    const { find, clock, postgres, onDown } = create()
    await find(key)
    postgres.isAway = true
    onDown()
    clock.ms = 299_999
    expect(await find(key)).toEqual(caller)
    clock.ms = 300_000
    await expect(find(key)).rejects.toThrow('cannot be checked')
    await expect(find(createKeyText().key)).rejects.toThrow('cannot be checked')
  })

  it('it is asked once a second at most for keys that were seen', async () => {
    const { find, clock, postgres, onDown } = create()
    await find(key)
    postgres.isAway = true
    onDown()
    clock.ms = 10_000
    for (let i = 0; i < 5; i++) expect(await find(key)).toEqual(caller)
    expect(postgres.queries).toBe(2)
    clock.ms = 11_000
    await find(key)
    expect(postgres.queries).toBe(3)
  })

  it('a key seen lately does not wait for an answer that never comes', async () => {
    const { find, clock, postgres, onDown } = create()
    await find(key)
    postgres.hangs = true
    onDown()
    clock.ms = 10_000
    expect(await find(key)).toEqual(caller)
  })

  it('a key that was told to have changed is not taken from memory', async () => {
    const { find, postgres, onMessage } = create()
    await find(key)
    postgres.isAway = true
    onMessage(keyId)
    await expect(find(key)).rejects.toThrow('cannot be checked')
  })

  it('readiness says what that means for keys', async () => {
    const check = createCheckKeys(() => Promise.reject(new Error('connection refused')))
    await expect(check()).rejects.toThrow('keys seen in the last 5 minutes still work')
  })
})
