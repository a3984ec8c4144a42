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
    {
      isKnown: () => true,
      takenBefore: () => undefined,
      bodyOf: () => undefined,
      waiting: () => undefined,
      roomToWait: { records: 100, bytes: 1000 },
      sizeOf: () => 1,
      ...world,
    },
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

describe('a batch whose records may wait', () => {
  const waitUntil = decidedAt + 3_600_000
  const nothing: Partial<World> = { isKnown: () => false }

  it('has those wait that refer to something unknown, and says for what', () => {
    const [known, unknown] = [sampleOf(offer), sampleOf(offer)]
    const batch = batchOf(offer, [known, unknown], { refusals: [refusalOf(2)], wait_until: waitUntil })
    const decision = decide(offer, batch, { isKnown: ({ id }) => id === known.shop_id })
    expect(decision).toMatchObject({ accepted: 1, refused: [{ index: 2 }], repeated: [] })
    expect(decision.waiting).toEqual([
      {
        index: 1,
        id: unknown.offer_id,
        for: [{ field: 'shop_id', type: 'shops', id: unknown.shop_id }],
        until: waitUntil,
      },
    ])
    expect(decision.gone).toBeUndefined()
  })

  it('has them refused where its time is over, or was never given', () => {
    for (const wait_until of [decidedAt, decidedAt - 1, null]) {
      const decision = decide(offer, batchOf(offer, [sampleOf(offer)], { wait_until }), nothing)
      expect(decision.waiting).toBeUndefined()
      expect(decision.refused).toMatchObject([{ index: 0, problems: [{ code: 'unknown_reference' }] }])
    }
  })

  it('has no more wait than there is room for; one that takes the place of another needs none', () => {
    const records = [sampleOf(offer), sampleOf(offer), sampleOf(offer)]
    const batch = batchOf(offer, [...records, { ...records[0] }], { wait_until: waitUntil })
    const there = { batchId: 'b', place: 0, version: 1, keyedSha256: null, missing: [], until: 0, size: 1 }
    const decision = decide(offer, batch, {
      ...nothing,
      roomToWait: { records: 1, bytes: 1000 },
      waiting: (id) => (id === records[2]?.offer_id ? there : undefined),
    })
    expect(decision.waiting?.map(({ index }) => index)).toEqual([0, 2, 3])
    expect(decision.refused).toMatchObject([
      { index: 1, problems: [{ code: 'too_many_waiting' }, { code: 'unknown_reference' }] },
    ])
  })

  it('has no more bytes wait than there is room for; one that takes the place of another needs what it is larger', () => {
    const records = [sampleOf(offer), sampleOf(offer), sampleOf(offer), sampleOf(offer)]
    const sizes = [10, 6, 12, 13]
    const decision = decide(offer, batchOf(offer, records, { wait_until: waitUntil }), {
      ...nothing,
      roomToWait: { records: 10, bytes: 12 },
      sizeOf: (index) => sizes[index] ?? 0,
      waiting: (id) =>
        records.slice(2).some(({ offer_id }) => offer_id === id)
          ? { batchId: 'b', place: 0, version: 1, keyedSha256: null, missing: [], until: 0, size: 10 }
          : undefined,
    })
    expect(decision.waiting?.map(({ index }) => index)).toEqual([0, 2])
    expect(decision.refused.map(({ index }) => index)).toEqual([1, 3])
    for (const { problems } of decision.refused) expect(problems[0]?.message).toContain('MAX_WAITING_BYTES')
  })

  it('says of a keyed interaction that waits already that it waits, and refuses another body', () => {
    const sha = Buffer.alloc(32, 7)
    const keyed = (fills: number[]) => {
      const given = fills.map(() => sampleOf(interaction))
      const batch = batchOf(interaction, given, { wait_until: waitUntil })
      for (const [n, record] of batch.records.entries())
        Object.assign(record, { interaction_id: given[0]?.item_id, keyed_sha256: Buffer.alloc(32, fills[n]) })
      return batch
    }
    const missing = [{ field: 'item_id', type: 'shops', id: 'x' }]
    const there = { batchId: 'b', place: 0, version: 1, keyedSha256: sha, missing, until: waitUntil - 5, size: 1 }
    // Even where what it waits for is there by now: its own lane comes to it soon.
    expect(decide(interaction, keyed([7]), { waiting: () => there })).toMatchObject({
      accepted: 0,
      repeated: [0],
      waiting: [{ index: 0, for: missing, until: waitUntil - 5 }],
    })
    const conflict = { problems: [{ code: 'idempotency_conflict' }] }
    expect(decide(interaction, keyed([8]), { waiting: () => there })).toMatchObject({ refused: [conflict] })
    expect(decide(interaction, keyed([7, 7, 8]), nothing)).toMatchObject({
      waiting: [{ index: 0 }, { index: 1 }],
      repeated: [1],
      refused: [{ index: 2, ...conflict }],
    })
  })
})

describe('a record that waited', () => {
  const since = decidedAt - 1_800_000
  const resumedBatch = (until: number, count = 1) => {
    const given = sampleOf(offer)
    const resumed = Array.from({ length: count }, (_, index) => ({
      index,
      request_id: 'r',
      batch_id: 'b',
      place: 4,
      request_index: 504,
      version: 77,
      since,
      until,
    }))
    return batchOf(offer, Array(count).fill(given), { resumed })
  }
  const there = { batchId: 'b', place: 4, version: 77, keyedSha256: null, missing: [], until: 0, size: 1 }
  const later = decidedAt + 1000

  it('is accepted once everything is there, also where its time is over', () => {
    for (const until of [later, decidedAt])
      expect(decide(offer, resumedBatch(until), { waiting: () => there })).toMatchObject({ accepted: 1, refused: [] })
  })

  it('goes on waiting until its own time, and is then refused with the words for it', () => {
    const isKnown = () => false
    const goesOn = decide(offer, resumedBatch(later), {
      waiting: () => there,
      isKnown,
      roomToWait: { records: 0, bytes: 0 },
    })
    expect(goesOn).toMatchObject({ accepted: 0, refused: [], waiting: [{ index: 0, until: later }] })
    const over = decide(offer, resumedBatch(decidedAt), { waiting: () => there, isKnown })
    expect(over.waiting).toBeUndefined()
    expect(over.refused[0]?.problems).toMatchObject([
      { field: 'shop_id', code: 'unknown_reference', message: expect.stringContaining('waited 30 minutes for it') },
    ])
  })

  it.each([
    ['no longer waits', undefined],
    ['was sent anew in another batch', { ...there, batchId: 'c' }],
    ['was sent anew at another place', { ...there, place: 5 }],
    ['was sent anew in a batch of the same id', { ...there, version: 78 }],
  ])('is passed over where it %s', (_, waiting) => {
    const decision = decide(offer, resumedBatch(later), { waiting: () => waiting })
    expect(decision).toMatchObject({ accepted: 0, refused: [], gone: [0] })
    // Also where it names somebody who was erased since: it was decided before, and what was told of it stays.
    const ofErased = decide(offer, resumedBatch(later), { waiting: () => waiting, isErased: () => true })
    expect(ofErased).toMatchObject({ accepted: 0, refused: [], gone: [0] })
    expect(decision.waiting).toBeUndefined()
  })

  it('is decided once where it is in a batch twice', () => {
    expect(decide(offer, resumedBatch(later, 2), { waiting: () => there })).toMatchObject({ accepted: 1, gone: [1] })
  })
})
