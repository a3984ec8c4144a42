import avro from 'avsc'
import { expect, it } from 'vitest'
import type { Decided } from '#ledger/fence.js'
import { hasValue } from '#platform/kafka/kafka.js'
import { partitionOf } from '#platform/kafka/partitions.js'
import type { Message, Producer } from '#platform/kafka/producer.js'
import { bodyOf, type Registry } from '#platform/registry.js'
import { catalogue } from '#schemas/catalogue.js'
import { createDecide } from '#schemas/decide.js'
import { acceptedSchema } from '#schemas/derive/avro.js'
import { usualLayout } from '#schemas/derive/topics.js'
import type { SubmittedBatch } from '#schemas/events.js'
import { shop } from '#schemas/records/shop.js'
import { createPublisher } from '../../../services/integrity/publisher.js'
import type { Scanned } from '../../../services/integrity/read-batch.js'
import { batchOf, refusalOf, scannedBatch } from '../../support/batch.js'
import { sampleOf } from '../../support/sample.js'

type Sent = { topic: string; partition: number; messages: readonly Message[] }

/** A publisher of shops whose sends are kept; `send` may fail them. */
const openPublisher = async (send: (sent: Sent) => Promise<void> = async () => {}) => {
  const sent: Sent[] = []
  const failPoints: string[] = []
  const producer: Pick<Producer, 'send'> = {
    send: async (topic, partition, messages, options) => {
      options?.mayGoOn?.()
      await send({ topic, partition, messages })
      sent.push({ topic, partition, messages })
    },
  }
  const registry = {
    prepare: async () => 7,
    encoder: async () => (value: unknown) => Buffer.from(JSON.stringify(value)),
  }
  const publish = await createPublisher({
    catalogue,
    type: shop,
    producer,
    registry: registry as unknown as Registry,
    layout: usualLayout,
    failAt: (point) => failPoints.push(point),
  })
  return { publish, sent, failPoints }
}
const acceptedShop = avro.Type.forSchema(acceptedSchema(shop) as avro.Schema)
const eventIn = (topic: string, value: Buffer) =>
  topic === 'weir.accepted.shops' ? acceptedShop.fromBuffer(bodyOf(value)) : JSON.parse(value.toString())
const toAll = (sent: readonly Sent[]) =>
  sent.flatMap(({ topic, partition, messages }) =>
    messages.filter(hasValue).map(({ key, value }) => ({ topic, partition, key, event: eventIn(topic, value) })),
  )

/** A batch that was decided as the message at this offset, which is `at`: elsewhere it is a repeat. */
const decided = (batch: SubmittedBatch, offset: number, at = offset): Decided<Scanned> => {
  const verdict = createDecide(shop)(
    batch,
    {
      isKnown: () => true,
      takenBefore: () => undefined,
      bodyOf: () => undefined,
      waiting: () => undefined,
      roomToWait: { records: 0, bytes: 0 },
      sizeOf: () => 0,
    },
    77,
  )
  return {
    offset: at,
    timestamp: 0,
    batch: scannedBatch(shop, batch),
    verdict: { ...verdict, topic: 'weir.submitted.shops', partition: 0, submitted_offset: offset },
    isTheOneDecided: at === offset,
  }
}
const holds = () => true
const twoShops = () => batchOf(shop, [sampleOf(shop), sampleOf(shop)], { refusals: [refusalOf(2, 'x')] })

it('publishes every verdict before the first event, because uploaders wait for verdicts', async () => {
  const { publish, sent } = await openPublisher()
  await publish([decided(twoShops(), 4), decided(twoShops(), 5)], holds)
  const topics = toAll(sent).map(({ topic }) => topic)
  expect(topics.slice(0, 2)).toEqual(['weir.verdicts', 'weir.verdicts'])
  expect(topics.slice(2).sort()).toEqual([...Array(4).fill('weir.accepted.shops'), ...Array(2).fill('weir.rejected')])
})

it('sends an event to the partition of its record, under its key, with the version of its place', async () => {
  const { publish, sent } = await openPublisher()
  const batch = twoShops()
  await publish([decided(batch, 4)], holds)
  const accepted = toAll(sent).filter(({ topic }) => topic === 'weir.accepted.shops')
  for (const { index, shop_id } of batch.records) {
    const key = `acme/${shop_id}`
    const event = { org_id: 'acme', shop_id, accepted_at: 77, version: 4 * 8192 + index }
    expect(accepted).toContainEqual(
      expect.objectContaining({ key, partition: partitionOf(key, 4), event: expect.objectContaining(event) }),
    )
  }
  const [rejected] = toAll(sent).filter(({ topic }) => topic === 'weir.rejected')
  expect(rejected).toMatchObject({ key: `acme/${batch.batch_id}/2`, event: { index: 2, id: 'x', rejected_at: 77 } })
})

it('publishes only the verdict of a batch that was decided as another message', async () => {
  const { publish, sent } = await openPublisher()
  const batch = twoShops()
  await publish([decided(batch, 4, 9)], holds)
  expect(toAll(sent)).toMatchObject([{ topic: 'weir.verdicts', key: batch.batch_id, event: { accepted: 2 } }])
})

it('hands on the trace that a batch came with, and the same one each time', async () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const traced = { ...decided(twoShops(), 4), traceparent }
  for (const { publish, sent } of [await openPublisher(), await openPublisher()]) {
    await publish([traced, decided(twoShops(), 5)], holds)
    const headers = sent.flatMap(({ topic, messages }) => messages.map((each) => `${topic} ${each.traceparent}`)).sort()
    const once = ['weir.accepted.shops', 'weir.accepted.shops', 'weir.rejected', 'weir.verdicts']
    expect(headers).toEqual(
      [...once.map((each) => `${each} ${traceparent}`), ...once.map((each) => `${each} undefined`)].sort(),
    )
  }
})

it('publishes the same bytes when it publishes the same decision again', async () => {
  const [first, second] = [await openPublisher(), await openPublisher()]
  const outcome = decided(twoShops(), 4)
  await first.publish([outcome], holds)
  await second.publish([outcome], holds)
  expect(second.sent).toEqual(first.sent)
})

it('sends nothing once the partition may be lost', async () => {
  const { publish, sent } = await openPublisher()
  await expect(publish([decided(twoShops(), 4)], () => false)).rejects.toThrow('may have lost its partition')
  expect(sent).toEqual([])
})

it('sends no event when the partition is lost after the verdicts', async () => {
  let isOwner = true
  const { publish, sent } = await openPublisher(async () => {
    isOwner = false
  })
  await expect(publish([decided(twoShops(), 4)], () => isOwner)).rejects.toThrow('may have lost its partition')
  expect(sent.map(({ topic }) => topic)).toEqual(['weir.verdicts'])
})

it('passes a failed send on, so that the offsets stay uncommitted', async () => {
  const { publish } = await openPublisher(async ({ topic }) => {
    if (topic === 'weir.rejected') throw new Error('not enough replicas')
  })
  await expect(publish([decided(twoShops(), 4)], holds)).rejects.toThrow('not enough replicas')
})

it('passes the fail point between any two sends, and not after the last', async () => {
  const { publish, sent, failPoints } = await openPublisher()
  await publish([decided(twoShops(), 4)], holds)
  expect(failPoints).toEqual(Array(sent.length - 1).fill('after-partial-publish'))
})

it('has ended every send before it says that one failed: none of them can land behind what comes next', async () => {
  let release = () => {}
  const slow = new Promise<void>((resolve) => (release = resolve))
  const { publish, sent } = await openPublisher(async ({ topic }) => {
    if (topic === 'weir.rejected') throw new Error('refused')
    if (topic === 'weir.accepted.shops') await slow
  })
  let isOver = false
  const publishing = publish([decided(twoShops(), 4)], holds).finally(() => (isOver = true))
  publishing.catch(() => {})
  await new Promise(setImmediate)
  expect(isOver).toBe(false)
  release()
  await expect(publishing).rejects.toThrow('refused')
  expect(toAll(sent).map(({ topic }) => topic)).toContain('weir.accepted.shops')
})
