import { expect, it } from 'vitest'
import { hasValue } from '#platform/kafka/kafka.js'
import { partitionOf } from '#platform/kafka/partitions.js'
import { shop } from '#schemas/records/shop.js'
import { createPublish } from '../../../../services/edge/stream/publisher.js'
import { batchOf, outgoing } from '../../../support/batch.js'
import { silent } from '../edge.js'

const batches = Array.from({ length: 5 }, (_, i) => outgoing(shop, batchOf(shop, [], { batch: i + 1, batches: 5 })))

const create = (failsAt = Number.POSITIVE_INFINITY) => {
  const sends: { topic: string; partition: number; numbers: number[]; keys: string[]; left: number }[] = []
  const publish = createPublish({
    failAt: () => {},
    producer: {
      send: async (topic, partition, messages, options) => {
        if (sends.length === failsAt) throw new Error('the broker is away')
        sends.push({
          topic,
          partition,
          numbers: messages.filter(hasValue).map(({ value }) => value.readUInt8()),
          keys: messages.map(({ key }) => key),
          left: (options?.deadline ?? 0) - performance.now(),
        })
      },
    },
    // 400 KiB each: two to a send.
    topicOf: () => ({
      topicOf: () => 't',
      partitionFor: ({ org_id }) => partitionOf(org_id, 4),
      encode: ({ batch }) => Buffer.alloc(400 * 1024, batch),
    }),
    log: silent,
  })
  return { sends, publish }
}

it("appends a request's batches in order to its organisation's partition, about 1 MiB at a time", async () => {
  const { sends, publish } = create()
  expect(await publish('shops', batches, 1000)).toBe(5)
  expect(sends.map(({ numbers }) => numbers)).toEqual([[1, 2], [3, 4], [5]])
  for (const { topic, partition, keys, left } of sends) {
    expect([topic, partition]).toEqual(['t', partitionOf('acme', 4)])
    for (const key of keys) expect(key).toMatch(/^acme\/[0-9a-f-]{36}$/)
    expect(left).toBeLessThanOrEqual(1000)
  }
})

it('stops at a send that fails, and tells how far it came', async () => {
  const { sends, publish } = create(1)
  expect(await publish('shops', batches, 1000)).toBe(2)
  expect(sends).toHaveLength(1)
})

it('keeps the order within each partition, and counts the batches up to the first that is missing', async () => {
  const laned = Array.from({ length: 6 }, (_, i) => outgoing(shop, batchOf(shop, [], { batch: i + 1, batches: 6 })))
  const written: Record<number, number[]> = {}
  const publish = createPublish({
    failAt: () => {},
    producer: {
      send: async (_, partition, messages) => {
        if (partition === 1 && written[1]) throw new Error('the broker is away')
        written[partition] = [
          ...(written[partition] ?? []),
          ...messages.filter(hasValue).map(({ value }) => value.readUInt8()),
        ]
      },
    },
    // Lanes 0, 1 and 2 with two batches each, one to a send.
    topicOf: () => ({
      topicOf: () => 't',
      partitionFor: ({ batch }) => Math.floor((batch - 1) / 2),
      encode: ({ batch }) => Buffer.alloc(800 * 1024, batch),
    }),
    log: silent,
  })
  expect(await publish('shops', laned, 1000)).toBe(3)
  expect(written).toEqual({ 0: [1, 2], 1: [3], 2: [5, 6] })
})
