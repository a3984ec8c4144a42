import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { entityName } from '#ledger/entities.js'
import { createEntityMemory, type HowKnown } from '../../../services/integrity/entity-memory.js'

const ids = Array.from({ length: 12 }, () => randomUUID())
const anyEntity = fc.record({
  orgId: fc.constantFrom('acme', 'other'),
  type: fc.constantFrom('shops', 'tags'),
  id: fc.constantFrom(...ids),
})
const anyUse = fc.record({ entity: anyEntity, seen: fc.option(fc.constantFrom<HowKnown>('found', 'added')) })

it('tells what was last said of an entity, and forgets none of those that were used last', () => {
  fc.assert(
    fc.property(fc.array(anyUse, { maxLength: 200 }), (uses) => {
      const memory = createEntityMemory(16)
      const said = new Map<string, HowKnown>()
      // The names of entities that were set or found, the last one at the end.
      let used: string[] = []
      for (const { entity, seen } of uses) {
        const name = entityName(entity)
        const told = memory.get(entity)
        if (told) expect(told).toBe(said.get(name))
        if (used.slice(-8).includes(name)) expect(told).toBe(said.get(name))
        if (seen) {
          memory.set(entity, seen)
          said.set(name, seen)
        }
        if (seen || told) used = [...used.filter((each) => each !== name), name]
      }
    }),
  )
})

it('holds no more than it may, and of those nearly all', () => {
  const memory = createEntityMemory(20_000)
  const all = Array.from({ length: 50_000 }, () => ({ orgId: 'acme', type: 'shops', id: randomUUID() }))
  for (const entity of all) memory.set(entity, 'added')
  const isKept = all.map((entity) => memory.get(entity) !== undefined)
  expect(isKept.slice(-10_000).filter(Boolean).length).toBeGreaterThan(9_900)
  expect(isKept.filter(Boolean).length).toBeLessThanOrEqual(20_000)
})

it('keeps ids apart that differ in one digit, types and organisations', () => {
  const memory = createEntityMemory(1000)
  const id = '00000000-0000-0000-0000-000000000000'
  memory.set({ orgId: 'a', type: 'shops', id }, 'found')
  for (const [at, character] of [...id].entries()) {
    if (character === '-') continue
    const other = `${id.slice(0, at)}1${id.slice(at + 1)}`
    expect(memory.get({ orgId: 'a', type: 'shops', id: other })).toBeUndefined()
  }
  expect(memory.get({ orgId: 'b', type: 'shops', id })).toBeUndefined()
  expect(memory.get({ orgId: 'a', type: 'tags', id })).toBeUndefined()
  expect(memory.get({ orgId: 'a', type: 'shops', id })).toBe('found')
})

it.each([
  '',
  'x',
  randomUUID().toUpperCase().replace(/.$/, 'A'),
  `${randomUUID()} `,
  randomUUID().replaceAll('-', '0'),
])('remembers nothing of an id that is written in another way: %s', (id) => {
  const memory = createEntityMemory(1000)
  memory.set({ orgId: 'acme', type: 'shops', id }, 'added')
  expect(memory.get({ orgId: 'acme', type: 'shops', id })).toBeUndefined()
})

it('forgets everything when the index is another one', () => {
  const memory = createEntityMemory(1000)
  const entity = { orgId: 'acme', type: 'shops', id: randomUUID() }
  memory.set(entity, 'added')
  memory.clear()
  expect(memory.get(entity)).toBeUndefined()
})
