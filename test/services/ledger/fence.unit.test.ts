import { describe, expect, it } from 'vitest'
import { isForgotten, refuseCutLog, type Submitted, toDecided } from '#ledger/fence.js'
import { createDecide } from '#schemas/decide.js'
import { shop } from '#schemas/records/shop.js'
import { batchOf } from '../../support/batch.js'
import { sampleOf } from '../../support/sample.js'

const at = { topic: 'weir.submitted.shops', partition: 0, type: shop, isReferenced: true, first: 0, next: 1 }
const submittedAt = Date.UTC(2026, 0, 1)
const one: Submitted = { offset: 0, timestamp: submittedAt, batch: batchOf(shop, [sampleOf(shop)]) }
const verdictOf = ({ batch, offset }: Submitted) => {
  const world = {
    isKnown: () => true,
    takenBefore: () => undefined,
    bodyOf: () => undefined,
    waiting: () => undefined,
    roomToWait: { records: 0, bytes: 0 },
    sizeOf: () => 0,
  }
  const decision = createDecide(shop)(batch, world, submittedAt + 5)
  return { ...decision, topic: at.topic, partition: at.partition, submitted_offset: offset }
}
const stored = new Map([[one.batch.batch_id, verdictOf(one)]])
const none = new Map()

describe('a batch below the cursor', () => {
  it('is forgotten where verdicts of its time were pruned', () => {
    expect(isForgotten(one, none, submittedAt + 6)).toBe(true)
    expect(isForgotten(one, none, submittedAt + 86_400_000)).toBe(true)
  })

  it('is forgotten though the clock of its edge went ahead of the one that decided', () =>
    expect(isForgotten(one, none, submittedAt - 30_000)).toBe(true))

  it('is never forgotten while it has its verdict', () =>
    expect(isForgotten(one, stored, submittedAt + 86_400_000)).toBe(false))

  it('stops the consumer where it has no verdict and is younger than all that was pruned', () => {
    expect(isForgotten(one, none, undefined)).toBe(false)
    expect(isForgotten(one, none, submittedAt - 3_600_000)).toBe(false)
    expect(() => toDecided(at, one, none)).toThrow('lies below the cursor, but has no verdict')
  })
})

describe('the message before the first fetch of a partition', () => {
  const cut = 'the log was cut and has grown again'
  const begins = { ...at, first: 1, next: 2, before: one }

  it('is the one that was decided there', () => {
    expect(() => refuseCutLog(begins, one.batch.batch_id, stored, undefined)).not.toThrow()
    expect(() => refuseCutLog(begins, undefined, stored, undefined)).not.toThrow()
  })

  it('is no reason to stop where there is none, or where its verdict was pruned', () => {
    expect(() => refuseCutLog(at, undefined, none, undefined)).not.toThrow()
    expect(() => refuseCutLog(begins, undefined, none, submittedAt + 86_400_000)).not.toThrow()
  })

  it('stops the consumer where it was never decided', () =>
    expect(() => refuseCutLog(begins, undefined, none, undefined)).toThrow(cut))

  it('stops the consumer where another batch was decided at its place, though it has a verdict of its own', () =>
    expect(() => refuseCutLog(begins, 'another batch', stored, undefined)).toThrow(cut))
})
