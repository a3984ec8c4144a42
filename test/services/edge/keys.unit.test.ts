import { describe, expect, it } from 'vitest'
import { createKeyText, hashKey } from '#platform/api-key.js'
import { bearerOf } from '../../../services/edge/keys/bearer.js'
import { createFindCaller } from '../../../services/edge/keys/key-cache.js'
import { createLastUse } from '../../../services/edge/keys/last-use.js'
import type { StoredKey } from '../../../services/edge/keys/sql/find-key.js'
import { silent } from './edge.js'

const { keyId, key } = createKeyText()
const stored: StoredKey = { keyId, orgId: 'acme', scopes: null, expiresAt: null }
const caller = { orgId: 'acme', keyId, scopes: null }

const create = (keys: [string, StoredKey][] = [[key, stored]]) => {
  const table = new Map(keys.map(([text, found]) => [hashKey(text).toString('hex'), found]))
  const postgres = { isAway: false, queries: 0 }
  const clock = { ms: 0 }
  const used: string[] = []
  const find = createFindCaller({
    findKey: async (hash) => {
      postgres.queries++
      if (postgres.isAway) throw new Error('connection refused')
      return table.get(hash.toString('hex'))
    },
    noteUse: (id) => used.push(id),
    now: () => clock.ms,
    log: silent,
  })
  return { find, table, postgres, clock, used }
}

describe('a key', () => {
  it('is asked for once, however many requests show it at once', async () => {
    const { find, postgres, used } = create()
    expect(await Promise.all([find(key), find(key), find(key)])).toEqual([caller, caller, caller])
    expect(postgres.queries).toBe(1)
    expect(used).toEqual([keyId, keyId, keyId])
  })

  it('with a wrong checksum costs no query; any other text is looked up', async () => {
    const { find, postgres } = create([['demo', stored]])
    expect(await find(`${key.slice(0, -1)}!`)).toBeUndefined()
    expect(await find('weir_')).toBeUndefined()
    expect(postgres.queries).toBe(0)
    expect(await find('demo')).toEqual(caller)
  })

  it('that is revoked is refused within half a minute', async () => {
    const { find, table, clock } = create()
    await find(key)
    table.clear()
    clock.ms = 29_999
    expect(await find(key)).toEqual(caller)
    clock.ms = 30_000
    expect(await find(key)).toBeUndefined()
  })

  it('that is issued is known within two seconds of having been refused', async () => {
    const { find, table, clock, postgres } = create([])
    expect(await find(key)).toBeUndefined()
    table.set(hashKey(key).toString('hex'), stored)
    expect(await find(key)).toBeUndefined()
    expect(postgres.queries).toBe(1)
    clock.ms = 2000
    expect(await find(key)).toEqual(caller)
  })

  it('is refused from the moment that it expires', async () => {
    const { find, clock } = create([[key, { ...stored, expiresAt: 10_000 }]])
    expect(await find(key)).toEqual(caller)
    clock.ms = 10_000
    expect(await find(key)).toBeUndefined()
  })

  it('seen in the last minutes is taken while Postgres is away; one not seen cannot be told', async () => {
    const { find, clock, postgres } = create()
    await find(key)
    postgres.isAway = true
    clock.ms = 299_999
    expect(await find(key)).toEqual(caller)
    clock.ms = 300_000
    await expect(find(key)).rejects.toThrow('cannot be checked')
    await expect(find('another')).rejects.toThrow('cannot be checked')
  })
})

it('reads a key from the Authorization header', () => {
  expect([bearerOf('Bearer abc'), bearerOf('bearer  abc ')]).toEqual(['abc', 'abc'])
  for (const bad of [undefined, '', 'Bearer', 'Bearer ', 'Basic abc', 'Bearer a b', `Bearer ${'x'.repeat(513)}`]) {
    expect(bearerOf(bad)).toBeUndefined()
  }
})

it('writes the last use of keys down once a minute, all at once, and never fails', async () => {
  const written: string[][] = []
  const clock = { ms: 0 }
  const postgres = { isAway: false }
  const { note, flush } = createLastUse({
    write: async (ids) => {
      if (postgres.isAway) throw new Error('connection refused')
      written.push([...ids])
    },
    now: () => clock.ms,
    log: silent,
  })
  for (const id of ['a', 'b', 'a']) note(id)
  await flush()
  note('a')
  await flush()
  expect(written).toEqual([['a', 'b']])
  clock.ms = 60_000
  note('a')
  postgres.isAway = true
  await flush()
})
