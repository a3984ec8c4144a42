import { expect, it } from 'vitest'
import type { NotedRequest } from '#ledger/requests.js'
import type { VerdictEvent } from '#schemas/events.js'
import { batchIdOf } from '#schemas/uuid.js'
import { publishedWithin, resultsOfStored } from '../../../../services/edge/requests/stored-request.js'

const noted = (written: number | null): NotedRequest => ({
  requestId: 'r',
  orgId: 'acme',
  type: 'shops',
  bodySha256: Buffer.alloc(32),
  batchRecords: [500, 500, 7],
  lanes: 1,
  submittedAt: 0,
  written,
})
const ids = [batchIdOf('r', 0, 500), batchIdOf('r', 500, 500), batchIdOf('r', 1000, 7)]
const verdict = (batch: number, batches: number, batch_id: string) => ({ batch, batches, batch_id }) as VerdictEvent
const outcomesOf = (written: number | null, verdicts: VerdictEvent[], now = 0) =>
  resultsOfStored({ noted: noted(written), verdicts }, now).map(({ batchId, outcome }, i) => {
    expect(batchId).toBe(ids[i])
    if (outcome === 'pending') return outcome
    return 'verdict' in outcome ? 'decided' : outcome.unknown
  })

it('has pending what Kafka has, with its ids, and what is on the way there', () => {
  expect(outcomesOf(3, [])).toEqual(['pending', 'pending', 'pending'])
  expect(outcomesOf(3, [verdict(2, 3, String(ids[1]))], publishedWithin)).toEqual(['pending', 'decided', 'pending'])
  expect(outcomesOf(null, [], publishedWithin - 1)).toEqual(['pending', 'pending', 'pending'])
})

it('does not have pending for ever what was never published', () => {
  expect(outcomesOf(1, [])).toEqual(['pending', 'not published', 'not published'])
  expect(outcomesOf(null, [], publishedWithin)).toEqual(['not published', 'not published', 'not published'])
  // It was written all the same.
  expect(outcomesOf(0, [verdict(1, 3, String(ids[0]))])).toEqual(['decided', 'not published', 'not published'])
})

it('tells the fuller one of two cuts', () => {
  const other = [verdict(1, 2, 'x'), verdict(2, 2, 'y')]
  const idsOf = (verdicts: VerdictEvent[]) =>
    resultsOfStored({ noted: noted(3), verdicts }, 0).map(({ batchId }) => batchId)
  expect(idsOf(other)).toEqual(['x', 'y'])
  expect(idsOf([...other, ...ids.map((id, i) => verdict(i + 1, 3, id))])).toEqual(ids)
})

it('tells what it can without a note, and nothing of nothing', () => {
  const results = resultsOfStored({ noted: undefined, verdicts: [verdict(2, 2, 'y')] }, 0)
  expect(results).toMatchObject([
    { batch: 1, batchId: null, outcome: 'pending' },
    { batch: 2, batchId: 'y' },
  ])
  expect(resultsOfStored({ noted: undefined, verdicts: [] }, 0)).toEqual([])
})
