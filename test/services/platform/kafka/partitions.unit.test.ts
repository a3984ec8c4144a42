import fc from 'fast-check'
import { Partitioners } from 'kafkajs'
import { expect, it } from 'vitest'
import { laneOf, partitionOf, partitionOfLane } from '#platform/kafka/partitions.js'

it('chooses the partition that other Kafka clients choose', () => {
  const partitionMetadata = Array.from({ length: 12 }, (_, partitionId) => ({
    partitionId,
    partitionErrorCode: 0,
    leader: 0,
    replicas: [],
    isr: [],
  }))
  const theirs = Partitioners.DefaultPartitioner()
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 80 }), (key) => {
      expect(partitionOf(key, 12)).toBe(theirs({ topic: 't', partitionMetadata, message: { key, value: null } }))
    }),
  )
})

const some = fc.record({ org: fc.string({ minLength: 1 }), id: fc.uuid(), partitions: fc.integer({ min: 1, max: 48 }) })

it('keeps an organisation with one lane on the partition that it had before there were lanes', () => {
  fc.assert(
    fc.property(some, ({ org, id, partitions }) => {
      expect(partitionOfLane(org, laneOf(id, 1), partitions)).toBe(partitionOf(org, partitions))
    }),
  )
})

it('gives each of its lanes a partition of its own while there are enough', () => {
  fc.assert(
    fc.property(some, fc.integer({ min: 1, max: 48 }), ({ org, partitions }, lanes) => {
      const used = new Set(Array.from({ length: lanes }, (_, lane) => partitionOfLane(org, lane, partitions)))
      expect(used.size).toBe(Math.min(lanes, partitions))
    }),
  )
})

it('leads one id to one lane, however it is written, and different ids to all of them', () => {
  fc.assert(
    fc.property(some, fc.integer({ min: 1, max: 16 }), ({ id }, lanes) => {
      const lane = laneOf(id, lanes)
      expect(lane).toBe(laneOf(id.toUpperCase(), lanes))
      expect(lane).toBeLessThan(lanes)
      expect(laneOf(null, lanes)).toBe(0)
    }),
  )
  const counts = Array.from({ length: 4 }, () => 0)
  for (let n = 0; n < 4000; n++) {
    const lane = laneOf(`00000000-0000-4000-8000-${String(n).padStart(12, '0')}`, 4)
    counts[lane] = (counts[lane] ?? 0) + 1
  }
  for (const count of counts) expect(count).toBeGreaterThan(800)
})
