import { randomUUID as uuid } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { laneOf } from '#platform/kafka/partitions.js'
import { encodeBatch } from '#platform/kafka/wire/record-batch.js'
import { createIdOf, createValuesEncoder } from '#schemas/byte-path/byte-path.js'
import { closedMessageBytes, closingMessage, closingProbe, isClosingMark } from '#schemas/closing-mark.js'
import { shop } from '#schemas/records/shop.js'
import { tag } from '#schemas/records/tag.js'
import type { CutLayout } from '../../../../services/edge/batches/cut-again.js'
import type { Entry } from '../../../../services/edge/batches/entries.js'
import { createToUpload } from '../../../../services/edge/uploads/upload.js'
import { batchOf, submittedMessage } from '../../../support/batch.js'

const encode = createValuesEncoder(shop)
const readId = createIdOf(shop)
const nothing = { name: 'x', region: 'GB', is_public: null, created: null, updated: null, is_deleted: null }
const entryOf = (shop_id: string): Entry => {
  const avro = encode({ ...nothing, shop_id })
  return { index: 0, keyedSha256: null, avro, at: 0, size: avro.length }
}
const given = { orgId: 'acme', requestId: '0190', bodySha256: Buffer.alloc(32), keyed: true, keyId: null }
const cutBy = (layout: Partial<CutLayout>, entries: readonly Entry[], records: number) =>
  createToUpload(shop, {
    layout: () => ({ lanes: 1, submittedPartitions: 8, acceptedPartitions: 8, ...layout }),
    batchLimits: { records, bytes: 1_000_000 },
    lag: { wayAround: () => undefined },
    now: () => 0,
  })(entries, given)
const idsOf = (batches: readonly { batch_id: string }[]) => batches.map(({ batch_id }) => batch_id)

it('keeps what was decided before the lanes were changed, and cuts the rest anew, each record once', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.uuid(), { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 7 }),
      fc.infiniteStream(fc.boolean()),
      (ids, before, lanes, records, coins) => {
        fc.pre(before !== lanes)
        const entries = ids.map(entryOf)
        const old = cutBy({ lanes: before }, entries, records).batches
        const decided = new Set(idsOf(old).filter(() => coins.next().value))
        const upload = cutBy({ lanes, generation: 1, earlierLanes: [before] }, entries, records)
        const pure = new Set(idsOf(upload.batches))
        const again = upload.cutAgain?.(decided)
        if (decided.size === 0) {
          expect(again).toBeUndefined()
          return
        }
        expect(again?.map(({ batch, batches }) => [batch, batches])).toEqual(
          again?.map((_, n) => [n + 1, again.length]),
        )
        const fresh = again?.filter(({ batch_id }) => !decided.has(batch_id)) ?? []
        expect(idsOf(again ?? []).filter((id) => decided.has(id))).toEqual([...decided])
        for (const { batch_id, lane, records: some } of fresh) {
          // Another batch of the same length could have that id.
          expect(pure.has(batch_id)).toBe(false)
          for (const record of some) expect(laneOf(readId(record), lanes)).toBe(lane)
        }
        const all = (again ?? []).flatMap(({ records: some }) => some.map(readId))
        expect(all.sort()).toEqual([...ids].sort())
      },
    ),
  )
})

it('leaves the batches as they are where nothing of them was decided by earlier lanes', () => {
  const upload = cutBy({ lanes: 1, generation: 1, earlierLanes: [4] }, Array.from({ length: 9 }, uuid).map(entryOf), 3)
  const indexes = () => upload.batches.map(({ records }) => records.map(({ index }) => index))
  const before = indexes()
  expect(upload.cutAgain?.(new Set([uuid()]))).toBeUndefined()
  expect(indexes()).toEqual(before)
})

it('takes no request with a key while it is not known what of it was decided before', () => {
  expect(() => cutBy({ generation: 1, earlierLanes: [4], isDecidedBefore: false }, [entryOf('a')], 5)).toThrow(
    'the lanes of this system are being changed; try again in a second; retrying is safe',
  )
})

it('ends a topic with a mark that is smaller than any batch, and with nothing else', async () => {
  const sizeOf = async (key: string, value: Buffer) => (await encodeBatch([{ key, value }], 0)).length
  const smallest = submittedMessage(tag, batchOf(tag, []))
  const most = Number(closedMessageBytes)
  expect(await sizeOf(closingMessage.key, closingMessage.value)).toBeLessThan(most)
  expect(await sizeOf('a', smallest)).toBeGreaterThan(most)
  expect(await sizeOf('', closingProbe().value)).toBeGreaterThan(most)
  expect([closingMessage.value, closingProbe().value, smallest].map(isClosingMark)).toEqual([true, true, false])
})
