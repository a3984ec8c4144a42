import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Assignee, assignPartitions } from '#platform/kafka/assignment.js'
import { placeOf } from '#platform/kafka/partitions.js'

type Place = { topic: string; partition: number }
type Topics = ReadonlyMap<string, readonly number[]>

const topicsOf = (counts: readonly number[]): Topics =>
  new Map(counts.map((count, t) => [`topic-${t}`, Array.from({ length: count }, (_, partition) => partition)]))
const fresh = (...ids: string[]): Assignee[] => ids.map((id) => ({ id, had: [], since: 0 }))
const after = (assigned: ReadonlyMap<string, Place[]>, since: number): Assignee[] =>
  [...assigned].map(([id, had]) => ({ id, had, since }))
const spreadOf = (counts: readonly number[]): number => Math.max(...counts) - Math.min(...counts)

const anyTopics = fc.array(fc.integer({ min: 1, max: 24 }), { minLength: 1, maxLength: 15 }).map(topicsOf)
const anyIds = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 9 })

const expectEven = (topics: Topics, assigned: ReadonlyMap<string, Place[]>): void => {
  const all = [...assigned.values()].flat().map(placeOf).sort()
  const wanted = [...topics].flatMap(([topic, partitions]) =>
    partitions.map((partition) => placeOf({ topic, partition })),
  )
  expect(all).toEqual(wanted.sort())
  expect(spreadOf([...assigned.values()].map((places) => places.length))).toBeLessThanOrEqual(1)
  for (const topic of topics.keys())
    expect(
      spreadOf([...assigned.values()].map((places) => places.filter((each) => each.topic === topic).length)),
    ).toBeLessThanOrEqual(1)
}

it('gives every partition to one member, and each member as many of each topic and of all as the others', () => {
  fc.assert(
    fc.property(anyTopics, anyIds, (topics, ids) => {
      expectEven(topics, assignPartitions(topics, fresh(...ids)))
    }),
  )
})

it('stays even through any coming and going, whatever members say they had', () => {
  const claim = fc.record({ topic: fc.constantFrom('topic-0', 'topic-1', 'gone'), partition: fc.nat({ max: 30 }) })
  const members = fc.uniqueArray(
    fc.record({ id: fc.string({ minLength: 1, maxLength: 5 }), had: fc.array(claim), since: fc.nat({ max: 3 }) }),
    { minLength: 1, maxLength: 9, selector: ({ id }) => id },
  )
  fc.assert(
    fc.property(anyTopics, members, (topics, given) => {
      expectEven(topics, assignPartitions(topics, given))
    }),
  )
})

it('gives odd partitions first to those who have fewest, also where that takes one from its owner', () => {
  const topics = topicsOf([3, 5, 6])
  const had = (topic: number, partition: number) => [{ topic: `topic-${topic}`, partition }]
  const claims = [had(1, 0), [], had(0, 1), had(1, 1), [], [], []]
  const members = claims.map((each, n) => ({ id: 'abcdefg'.charAt(n), had: each, since: 0 }))
  expectEven(topics, assignPartitions(topics, members))
})

it('moves only odd partitions between the others when a member goes, and its share when one comes', () => {
  fc.assert(
    fc.property(anyTopics, anyIds, (topics, ids) => {
      const before = assignPartitions(topics, fresh(...ids))
      expect(assignPartitions(topics, after(before, 1))).toEqual(before)

      const joined = assignPartitions(topics, [...after(before, 1), ...fresh('newcomer')])
      const total = [...topics.values()].flat().length
      const moved = (from: ReadonlyMap<string, Place[]>, to: ReadonlyMap<string, Place[]>) =>
        [...from].flatMap(([id, places]) => {
          const kept = new Set((to.get(id) ?? places).map(placeOf))
          return places.filter((place) => !kept.has(placeOf(place)))
        }).length
      // Odd are those partitions of a topic that some members have one more of: they move so that all have as many in sum.
      const odd = [...topics.values()].reduce((sum, partitions) => sum + (partitions.length % (ids.length + 1)), 0)
      expect(moved(before, joined)).toBeLessThanOrEqual(Math.ceil(total / (ids.length + 1)) + odd)

      const left = assignPartitions(
        topics,
        after(joined, 2).filter(({ id }) => id !== 'newcomer'),
      )
      expect(moved(joined, left)).toBeLessThanOrEqual(odd)
    }),
  )
})

it('lets two members share the partitions of one number, and four members the lanes of one organisation', () => {
  const types = topicsOf(Array.from({ length: 14 }, () => 4))
  const two = assignPartitions(types, fresh('a', 'b'))
  for (const number of [0, 1, 2, 3])
    expect([...two.values()].map((places) => places.filter(({ partition }) => partition === number).length)).toEqual([
      7, 7,
    ])
  const wide = topicsOf(Array.from({ length: 14 }, () => 24))
  for (const places of assignPartitions(wide, fresh('a', 'b', 'c', 'd')).values())
    for (const topic of wide.keys())
      for (let first = 0; first < 24; first++) {
        const lanes = [0, 1, 2, 3].map((lane) => (first + lane) % 24)
        expect(places.filter((each) => each.topic === topic && lanes.includes(each.partition)).length).toBe(1)
      }
})

it.each([
  [4, 0.25],
  [8, 0.2],
  [24, 0.14],
])('lets members that came one by one share the lanes of any organisation, with %i partitions', (count, share) => {
  const types = topicsOf(Array.from({ length: 14 }, () => count))
  let assigned = new Map<string, Place[]>()
  for (const id of ['c', 'a', 'd', 'b']) assigned = assignPartitions(types, [...after(assigned, 1), ...fresh(id)])
  for (let first = 0; first < count; first++)
    for (const places of assigned.values()) {
      const own = places.filter(({ partition }) => (partition - first + count) % count < 4)
      expect(own.length / (14 * 4)).toBeGreaterThanOrEqual(share)
    }
})

it('believes the member that got a partition last', () => {
  const topics = topicsOf([1])
  const had = [{ topic: 'topic-0', partition: 0 }]
  const members = [
    { id: 'a', had, since: 1 },
    { id: 'b', had, since: 2 },
  ]
  expect(assignPartitions(topics, members).get('b')).toEqual(had)
  expect(assignPartitions(topics, [...members].reverse()).get('b')).toEqual(had)
})
