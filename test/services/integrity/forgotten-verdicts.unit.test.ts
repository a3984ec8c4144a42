import { expect, it } from 'vitest'
import type { Submitted } from '#ledger/fence.js'
import type { ForgottenVerdict } from '#ledger/mending/forgotten-verdicts.js'
import type { SubmittedBatch } from '#schemas/events.js'
import { branch } from '#schemas/records/branch.js'
import { decideFetch, type Known } from '../../../services/integrity/decide-fetch.js'
import { batchOf, refusalOf } from '../../support/batch.js'
import { sampleOf } from '../../support/sample.js'

const then = Date.UTC(2026, 5, 1)
const now = then + 3_600_000

const decide = (batch: SubmittedBatch, known: Partial<Known>, at: number) => {
  const fresh: Submitted[] = [{ offset: 7, timestamp: then, batch }]
  const world: Known = {
    isKnown: () => false,
    takenBefore: new Map(),
    bodies: new Map(),
    waiting: [],
    roomToWait: () => ({ records: 10, bytes: 1000 }),
    sizeOf: () => 1,
    ...known,
  }
  return decideFetch(
    { topic: 't', partition: 3, type: branch, isReferenced: true, first: 7, next: 8 },
    fresh,
    world,
    at,
  )
}

const forgottenFrom = (verdicts: readonly ForgottenVerdict[]) => new Map(verdicts.map((each) => [each.batch_id, each]))

const [first, second] = [sampleOf(branch), sampleOf(branch)]
const knowsFirst = { isKnown: ({ id }: { id: string }) => id !== second.shop_id }
const knowsAll = { isKnown: () => true }

it.each([
  ['refused', undefined],
  ['waited', then + 60_000],
])('gives a batch the verdict that was published, though what %s was missing has come since', (_, wait_until) => {
  const batch = batchOf(branch, [first, second], { ...(wait_until && { wait_until }) })
  const published = decide(batch, knowsFirst, then)
  expect(published.verdicts[0]).toMatchObject({ accepted: 1, decided_at: then })
  const forgotten = forgottenFrom(published.verdicts)
  expect(decide(batch, { ...knowsAll, forgotten }, now)).toEqual(published)
})

it('repeats what the edge refused, and decides a batch anew of which nothing was published', () => {
  const batch = batchOf(branch, [first], { refusals: [refusalOf(1)] })
  const published = decide(batch, knowsFirst, then)
  expect(decide(batch, { ...knowsAll, forgotten: forgottenFrom(published.verdicts) }, now)).toEqual(published)
  const other = batchOf(branch, [second])
  expect(decide(other, { ...knowsAll, forgotten: forgottenFrom(published.verdicts) }, now).verdicts).toMatchObject([
    { accepted: 1, decided_at: now },
  ])
})
