import { expect, it } from 'vitest'
import { createKeyMemory } from '../../../../services/edge/keys/key-memory.js'

const keysKept = 10_000

it('looks at no other key when one has changed, however many it remembers', () => {
  let looks = 0
  const memory = createKeyMemory(() => 0)
  memory.changes.onUp()
  const keep = (name: string, keyId: string) => {
    const key = { orgId: 'acme', scopes: null, endsAt: 1 }
    const counting = Object.defineProperty({ ...key, keyId }, 'keyId', {
      get: () => {
        looks++
        return keyId
      },
    })
    memory.keep(name, counting, memory.begin())
  }
  for (let n = 0; n < keysKept; n++) keep(`text ${n}`, `key${n}`)
  // The text of the demo key may be set anew: its key is then known by two texts.
  keep('another text', 'key5')
  looks = 0
  memory.changes.onMessage('key5')
  memory.changes.onMessage('a key that was never used here')
  expect(looks).toBeLessThan(10)
  expect([memory.recall('text 5'), memory.recall('another text')]).toEqual([undefined, undefined])
  expect(memory.recall('text 6')).toMatchObject({ keyId: 'key6' })
})

it('forgets which text a key had together with the key, and not before', () => {
  const memory = createKeyMemory(() => 0)
  memory.changes.onUp()
  const keep = (n: number) =>
    memory.keep(`text ${n}`, { keyId: `key${n}`, orgId: 'acme', scopes: null, endsAt: 1 }, memory.begin())
  keep(0)
  // The same text is kept again when it was asked for again; then others push it out, and it comes back.
  keep(0)
  for (let n = 1; n <= keysKept; n++) keep(n)
  expect(memory.recall('text 0')).toBeUndefined()
  keep(0)
  memory.changes.onMessage('key0')
  expect(memory.recall('text 0')).toBeUndefined()
  expect(memory.lastSeen('text 0')).toBeUndefined()
})
