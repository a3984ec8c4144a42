import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { partitionOf } from '#platform/kafka/partitions.js'
import { tag } from '#schemas/records/tag.js'
import { versionOf } from '#schemas/version.js'
import { createExpectations, expect as expectOf, missingOf } from '../../../../services/operator/verify/expectations.js'
import { batchOf, refusalOf } from '../../../support/batch.js'
import { sampleOf } from '../../../support/sample.js'

const ids = [randomUUID(), randomUUID(), randomUUID()]
/** At offset 7: two accepted, one taken before, one refused. */
const decided = () => {
  const batch = batchOf(
    tag,
    ids.map((tag_id) => sampleOf(tag, { tag_id })),
    { refusals: [refusalOf(3)] },
  )
  const verdict = {
    ...{ org_id: 'acme', request_id: batch.request_id, batch_id: batch.batch_id, type: 'tags' },
    ...{ batch: 1, batches: 1, first_index: 0, body_sha256: batch.body_sha256, decided_at: 5, accepted: 3 },
    ...{ refused: [{ index: 3, id: null, problems: [] }], repeated: [2], submitted_offset: 7 },
  }
  const place = { partition: partitionOf('acme', 4), offset: 7, isInFlight: false }
  const expectations = createExpectations(({ orgId }) => [partitionOf(orgId, 4)])
  const expected = expectOf(place, batch, verdict, 'tag_id')
  expectations.add(expected)
  const sighting = (index: number, over = {}) => ({
    ...{
      orgId: 'acme',
      id: ids[index] ?? null,
      key: `acme/${ids[index]}`,
      batchId: batch.batch_id,
      version: versionOf(7, index),
    },
    ...over,
  })
  return { expectations, expected, sighting, batch, place }
}

it('misses every event of a batch until it is seen', () => {
  const { expectations, expected, sighting } = decided()
  expect(missingOf(expected, 'accepted')).toEqual([0, 1])
  expect(missingOf(expected, 'refused')).toEqual([3])
  expect(expectations.seeAccepted(sighting(1)).as).toBe('expected')
  expect(expectations.seeAccepted(sighting(1)).as).toBe('again')
  expect(expectations.seeRejected(sighting(3)).as).toBe('expected')
  expect(missingOf(expected, 'accepted')).toEqual([0])
  expect(missingOf(expected, 'refused')).toEqual([])
})

describe('takes for unfounded', () => {
  it.each([
    ['an accepted event of a record that was refused', 3, {}],
    ['one of a record that was taken before', 2, {}],
    ['one of a record that the batch does not have', 4, {}],
    ['one under the key of another record', 0, { key: `acme/${ids[1]}` }],
    ['one of another batch at the same place', 0, { batchId: randomUUID() }],
  ])('%s', (_, index, over) => {
    const { expectations, sighting, expected } = decided()
    expect(expectations.seeAccepted(sighting(index, over)).as).toBe('unfounded')
    expect(missingOf(expected, 'accepted')).toEqual([0, 1])
  })

  it('a rejection of a record that was accepted', () => {
    const { expectations, sighting } = decided()
    expect(expectations.seeRejected(sighting(0)).as).toBe('unfounded')
  })

  it('whatever comes of a batch that repeats an earlier one', () => {
    const { expectations, sighting, batch, place } = decided()
    expectations.add(expectOf({ ...place, offset: 8 }, batch, null, 'tag_id'))
    expect(expectations.seeAccepted(sighting(0, { version: versionOf(8, 0) })).as).toBe('unfounded')
  })
})

it('has no opinion on what lies outside the range', () => {
  const { expectations, sighting } = decided()
  expect(expectations.seeAccepted(sighting(0, { version: versionOf(6, 0) })).as).toBe('outside')
})
