import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { catalogue } from '#schemas/catalogue.js'
import { createDecide, type World } from '#schemas/decide.js'
import type { SubmittedBatch } from '#schemas/events.js'
import { createReferencesOf, type RecordType } from '#schemas/record.js'
import { interaction } from '#schemas/records/interaction.js'
import { offer } from '#schemas/records/offer.js'
import { batchOf, refusalOf } from '../support/batch.js'
import { sampleOf } from '../support/sample.js'

const decidedAt = Date.UTC(2026, 0, 1)
const decide = (type: RecordType, batch: SubmittedBatch, world: Partial<World> = {}) =>
  createDecide(type)(
    batch,
    { isKnown: () => true, takenBefore: () => undefined, bodyOf: () => undefined, ...world },
    decidedAt,
  )

describe.each([...catalogue.all.values()])('$type', (type) => {
  it('is accepted when everything it refers to is known', () => {
    const batch = batchOf(type, [sampleOf(type), sampleOf(type)])
    expect(decide(type, batch)).toEqual({
      org_id: batch.org_id,
      request_id: batch.request_id,
      batch_id: batch.batch_id,
      type: type.type,
      batch: batch.batch,
      batches: batch.batches,
      first_index: batch.first_index,
      body_sha256: batch.body_sha256,
      decided_at: decidedAt,
      accepted: 2,
      refused: [],
      repeated: [],
    })
  })

  const references = createReferencesOf(type)(batchOf(type, [sampleOf(type)]).records[0] as never)
  it.each(references)('is refused when its $field is not known', ({ field, type: to }) => {
    const batch = batchOf(type, [sampleOf(type)])
    const { accepted, refused } = decide(type, batch, { isKnown: (reference) => reference.field !== field })
    expect(accepted).toBe(0)
    expect(refused).toMatchObject([{ index: 0, problems: [{ field, code: 'unknown_reference' }] }])
    expect(refused[0]?.problems[0]?.message).toContain(to)
  })
})

it('keeps the order of the batch between what the edge refused and what it refuses itself', () => {
  const good = sampleOf(offer)
  const bad = sampleOf(offer)
  const batch = batchOf(offer, [good, bad], { refusals: [refusalOf(2), refusalOf(3)] })
  const isKnown: World['isKnown'] = ({ id }) => id === good.shop_id
  const { accepted, refused } = decide(offer, batch, { isKnown })
  expect(accepted).toBe(1)
  expect(refused.map(({ index }) => index)).toEqual([1, 2, 3])
})

it.each([
  ['TAG', 'tags'],
  ['OFFER', 'offers'],
  ['SHOP', 'shops'],
  ['KEYWORD', 'keywords'],
])('looks for the item of a %s interaction among %s', (itemType, wanted) => {
  const batch = batchOf(interaction, [sampleOf(interaction, { item_type: itemType })])
  const { accepted } = decide(interaction, batch, {
    isKnown: ({ field, type }) => field !== 'item_id' || type === wanted,
  })
  expect(accepted).toBe(1)
})

describe('an interaction with an Idempotency-Key', () => {
  const sha = Buffer.alloc(32, 7)
  const keyed = (records: number, id = randomUUID()) => {
    const batch = batchOf(
      interaction,
      Array.from({ length: records }, () => sampleOf(interaction)),
    )
    for (const record of batch.records) Object.assign(record, { interaction_id: id, keyed_sha256: sha })
    return batch
  }

  it('is taken once, within a batch too', () => {
    expect(decide(interaction, keyed(1))).toMatchObject({ accepted: 1, refused: [], repeated: [] })
    expect(decide(interaction, keyed(2))).toMatchObject({ accepted: 2, refused: [], repeated: [1] })
    expect(decide(interaction, keyed(1), { takenBefore: () => sha })).toMatchObject({
      accepted: 1,
      refused: [],
      repeated: [0],
    })
  })

  it('is refused when the key came with another body before', () => {
    const { refused } = decide(interaction, keyed(1), { takenBefore: () => Buffer.alloc(32, 8) })
    expect(refused).toMatchObject([{ index: 0, problems: [{ code: 'idempotency_conflict' }] }])
  })

  it('may be tried again after it was refused', () => {
    expect(decide(interaction, keyed(2), { isKnown: () => false }).refused).toHaveLength(2)
  })
})

it('takes nothing of a request that was decided with another body before, and all of one with the same', () => {
  const batch = batchOf(offer, [sampleOf(offer), sampleOf(offer)], { refusals: [refusalOf(2)] })
  const { accepted, refused } = decide(offer, batch, { bodyOf: () => Buffer.alloc(32, 8) })
  expect([accepted, refused.map(({ problems }) => problems[0]?.code)]).toEqual([
    0,
    ['idempotency_conflict', 'idempotency_conflict', 'missing_field'],
  ])
  expect(decide(offer, batch, { bodyOf: () => batch.body_sha256 })).toMatchObject({ accepted: 2 })
})
