import fc from 'fast-check'
import { Partitioners } from 'kafkajs'
import { expect, it } from 'vitest'
import { partitionOf } from '#platform/kafka/partitions.js'

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
