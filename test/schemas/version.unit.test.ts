import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  generationOf,
  mostGenerations,
  mostOffsets,
  mostRecordsInBatch,
  placeOfVersion,
  type VersionedPlace,
  versionOf,
} from '#schemas/version.js'

const place = fc
  .record({
    generation: fc.nat({ max: mostGenerations - 1 }),
    inTopic: fc.nat({ max: mostOffsets - 1 }),
    index: fc.nat({ max: mostRecordsInBatch - 1 }),
  })
  .map(({ generation, inTopic, index }) => ({ generation, offset: generation * mostOffsets + inTopic, index }))
const toVersion = ({ offset, index }: VersionedPlace) => versionOf(offset, index)
const compare = (a: VersionedPlace, b: VersionedPlace) => Math.sign(a.offset - b.offset || a.index - b.index)

it('is the number that it was before there were generations', () => {
  expect([versionOf(0, 0), versionOf(0, 8191), versionOf(1, 0), versionOf(7_654_321, 499)]).toEqual([
    0,
    8191,
    8192,
    7_654_321 * 8192 + 499,
  ])
})

it('orders by generation, then by offset, then by index, and tells its place', () => {
  fc.assert(
    fc.property(place, place, ({ generation, ...a }, b) => {
      expect(placeOfVersion(toVersion(a))).toEqual(a)
      expect(generationOf(a.offset)).toBe(generation)
      expect(Math.sign(toVersion(a) - toVersion(b))).toBe(compare(a, b))
    }),
  )
})

it('is exact up to the last one, and there is none beyond', () => {
  const last = versionOf(mostGenerations * mostOffsets - 1, mostRecordsInBatch - 1)
  expect(last).toBe(Number.MAX_SAFE_INTEGER)
  expect(() => versionOf(0, mostRecordsInBatch)).toThrow('no version is left')
  expect(() => versionOf(mostGenerations * mostOffsets, 0)).toThrow('no version is left')
})
