import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  mostGenerations,
  mostOffsets,
  mostRecordsInBatch,
  placeOfVersion,
  type VersionedPlace,
  versionOf,
} from '#schemas/version.js'

const place: fc.Arbitrary<VersionedPlace> = fc.record({
  generation: fc.nat({ max: mostGenerations - 1 }),
  offset: fc.nat({ max: mostOffsets - 1 }),
  index: fc.nat({ max: mostRecordsInBatch - 1 }),
})
const toVersion = ({ generation, offset, index }: VersionedPlace) => versionOf(offset, index, generation)
const compare = (a: VersionedPlace, b: VersionedPlace) =>
  Math.sign(a.generation - b.generation || a.offset - b.offset || a.index - b.index)

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
    fc.property(place, place, (a, b) => {
      expect(placeOfVersion(toVersion(a))).toEqual(a)
      expect(Math.sign(toVersion(a) - toVersion(b))).toBe(compare(a, b))
    }),
  )
})

it('is exact up to the last one, and there is none beyond', () => {
  const last = versionOf(mostOffsets - 1, mostRecordsInBatch - 1, mostGenerations - 1)
  expect(last).toBe(Number.MAX_SAFE_INTEGER)
  expect(() => versionOf(mostOffsets, 0)).toThrow('no version is left')
  expect(() => versionOf(0, mostRecordsInBatch)).toThrow('no version is left')
  expect(() => versionOf(0, 0, mostGenerations)).toThrow('no version is left')
})
