import avro from 'avsc'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { catalogue } from '#schemas/catalogue.js'
import { acceptedSchema } from '#schemas/derive/avro.js'
import { createValidator } from '#schemas/derive/validator.js'
import { createReferencesOf, hasVersions, type RecordType } from '#schemas/record.js'
import { historyOf, newField, referredTo, type TopicSample } from '#schemas/samples/history.js'
import { asPublished, finalStateOf } from '#schemas/samples/published.js'
import { recordAt } from '#schemas/samples/records.js'

const types = [...catalogue.all.values()]
const typeOf = (name: string): RecordType => catalogue.all.get(name) as RecordType
const wishOf = (name: string, wish: Partial<TopicSample> = {}): TopicSample => ({
  ...{ type: typeOf(name), seed: 1, count: 50, deletes: false, duplicates: false, newFields: false },
  ...wish,
})

const anyWish = fc.record({
  type: fc.constantFrom(...types),
  seed: fc.integer({ min: 0, max: 999_999 }),
  count: fc.integer({ min: 1, max: 60 }),
  deletes: fc.boolean(),
  duplicates: fc.boolean(),
  newFields: fc.boolean(),
})

it('is always the same from the same seed, and every event fits the public schema of its topic', () => {
  fc.assert(
    fc.property(anyWish, (given) => {
      const wish = { ...given, deletes: given.deletes && hasVersions(given.type) }
      const { events } = asPublished(historyOf(wish), wish)
      expect(asPublished(historyOf(wish), wish).events).toEqual(events)
      const schema = avro.Type.forSchema(acceptedSchema(wish.type) as avro.Schema)
      for (const event of events) expect(schema.isValid(event)).toBe(true)
    }),
    { numRuns: 50 },
  )
})

it('has the values that the service keeps of its records', () => {
  const amounts = Object.fromEntries(types.map(({ type }) => [type, referredTo]))
  for (const type of types) {
    const validate = createValidator(type)
    for (const { index, kind, event } of historyOf(wishOf(type.type))) {
      const validated = validate(recordAt({ seed: 1, broken: 0, amounts }, type, index))
      expect(validated).toHaveProperty('values')
      if (kind === 'first') expect({ ...event, ...('values' in validated && validated.values) }).toEqual(event)
    }
  }
})

it('has versions that rise with each write of a record, and is not changed by what a topic does with it', () => {
  fc.assert(
    fc.property(anyWish, (given) => {
      const wish = { ...given, deletes: given.deletes && hasVersions(given.type) }
      const history = historyOf(wish)
      const versions = history.map(({ event }) => event.version)
      expect(versions).toEqual([...new Set(versions)].sort((one, other) => one - other))
      const { id } = wish.type
      const last = new Map(history.map(({ event }) => [String(event[id]), event]))
      expect(last.size).toBe(wish.count)
      const live = [...last.values()].filter((event) => event.is_deleted !== true)
      const state = finalStateOf(asPublished(history, wish).events, id)
      expect(new Set(state)).toEqual(new Set(live))
    }),
    { numRuns: 50 },
  )
})

it('refers to records that a sample of the other type has, with the same seed', () => {
  const idsOf = (name: string) =>
    new Set(historyOf(wishOf(name, { count: 10 })).map(({ event }) => event[typeOf(name).id]))
  const ids = new Map(types.map(({ type }) => [type, idsOf(type)]))
  for (const type of types) {
    const referencesOf = createReferencesOf(type)
    const references = historyOf(wishOf(type.type, { deletes: hasVersions(type) })).flatMap(({ event }) =>
      referencesOf(event),
    )
    for (const { type: to, id } of references) expect(ids.get(to), `${type.type} → ${to}`).toContain(id)
  }
})

it('has the same records whatever else is asked for', () => {
  const firsts = (wish: Partial<TopicSample>) =>
    new Set(historyOf(wishOf('shops', wish)).map(({ event }) => event.shop_id))
  expect(firsts({ deletes: true, newFields: true })).toEqual(firsts({}))
  expect(firsts({ seed: 2 })).not.toEqual(firsts({}))
})

it.each([2, 50, 2000])('has all that was asked for among %i records', (count) => {
  const wish = wishOf('transactions', { count, deletes: true, duplicates: true, newFields: true })
  const history = historyOf(wish)
  const kinds = new Set(history.map(({ kind }) => kind))
  expect(kinds).toEqual(new Set(['first', 'changed', 'deleted', 'restored']))
  const { events, duplicates, replays, replayed, late } = asPublished(history, wish)
  expect(Math.min(duplicates, replays, replayed, late)).toBeGreaterThan(0)
  expect(events).toHaveLength(history.length + duplicates + replayed)
  const values = new Set(history.map(({ event }) => typeof event[newField]))
  expect(values).toEqual(new Set(['string', 'object']))
})

it('is wrong for each consumer that forgets one of the rules', () => {
  const wish = wishOf('transactions', { count: 200, deletes: true, duplicates: true })
  const { events } = asPublished(historyOf(wish), wish)
  const right = finalStateOf(events, 'transaction_id')
  const idOf = (event: (typeof events)[number]) => String(event.transaction_id)
  const lastWins = [...new Map(events.map((event) => [idOf(event), event])).values()]
  const firstOfEach = [...new Map(events.toReversed().map((event) => [idOf(event), event])).values()]
  const onceEach = [...new Map([...new Set(events)].map((event) => [idOf(event), event])).values()]
  const newest = [...new Map(events.toSorted((a, b) => a.version - b.version).map((e) => [idOf(e), e])).values()]
  const live = (some: typeof events) => some.filter((event) => event.is_deleted !== true)
  const versionsOf = (some: typeof events) => some.map((event) => `${idOf(event)} ${event.version}`).sort()
  const wrong = [live(lastWins), live(firstOfEach), live(onceEach), live(events), newest].map(versionsOf)
  expect(wrong).not.toContainEqual(versionsOf(right))
})
