import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import {
  adoptRetries,
  claimRetries,
  countOutcomes,
  findOrdered,
  findRetries,
  findUnanswered,
  rejectionName,
  releaseRetries,
  settleRetries,
} from '#ledger/retries/claims.js'
import { alone } from '../../../services/operator/command/alone.js'
import { openMigratedDatabase } from '../../support/migrated-database.js'

const { pool } = await openMigratedDatabase(4)

const candidates = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    batchId: randomUUID(),
    index: 10 - i,
    org: 'acme',
    type: 'offers',
    rejectedAt: new Date(Date.UTC(2026, 0, 1) + i),
  }))

const claimsOf = (retryId: string, wanted: ReturnType<typeof candidates>) =>
  wanted.map((each) => ({ ...each, retryId }))

it('gives a rejection to one run only, however many want it at the same moment', async () => {
  const wanted = candidates(50)
  const runs = await Promise.all([1, 2, 3, 4].map(() => claimRetries(pool, claimsOf(randomUUID(), wanted))))
  expect(runs.flat().map(rejectionName).sort()).toEqual(wanted.map(rejectionName).sort())
})

it('knows what was claimed without an answer, in its order, and what became of the rest', async () => {
  await pool.query('truncate integrity.retries')
  const [first, second, third] = [candidates(3), candidates(1), candidates(2)]
  const retryId = randomUUID()
  const answered = randomUUID()
  await claimRetries(pool, claimsOf(retryId, first))
  await claimRetries(pool, claimsOf(answered, third))
  const requestId = randomUUID()
  await settleRetries(pool, requestId, [
    { ...(third[0] as (typeof third)[0]), outcome: 'accepted' },
    { ...(third[1] as (typeof third)[0]), outcome: 'refused' },
  ])

  const unanswered = await findUnanswered(pool)
  const order = first.map(({ batchId, index, rejectedAt }) => ({ batchId, index, rejectedAt }))
  expect(unanswered).toMatchObject([{ retryId, org: 'acme', type: 'offers', wanted: order }])
  const retries = await findRetries(pool, [...first, ...second, ...third])
  expect(first.map((each) => retries.get(rejectionName(each))?.outcome)).toEqual([null, null, null])
  expect(second.map((each) => retries.get(rejectionName(each)))).toEqual([undefined])
  expect(third.map((each) => retries.get(rejectionName(each)))).toMatchObject([
    { outcome: 'accepted', request_id: requestId, retry_id: answered },
    { outcome: 'refused', request_id: requestId },
  ])

  await releaseRetries(pool, retryId)
  await releaseRetries(pool, answered)
  expect(await findUnanswered(pool)).toEqual([])
  expect((await findRetries(pool, third)).size).toBe(2)
})

it('lets one run at a time, and the next one after it has ended, however it did', async () => {
  const refused = 'another "weir rejected retry" is running'
  const failing = alone(pool, 'rejected retry', async () => {
    await expect(alone(pool, 'rejected retry', async () => 'never')).rejects.toThrow(refused)
    throw new Error('cut off')
  })
  await expect(failing).rejects.toThrow('cut off')
  expect(await alone(pool, 'rejected retry', async () => 'done')).toBe('done')
})

it('puts under an order what an operator of an older version had begun to send without one', async () => {
  await pool.query('truncate integrity.retries')
  const [left, other] = [candidates(2), candidates(1)]
  const [retryId, another, orderId, orderOfAnother] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
  await claimRetries(pool, claimsOf(retryId, left))
  await claimRetries(pool, claimsOf(another, other), orderOfAnother)
  await adoptRetries(pool, orderId, [retryId, another])
  // It may have been sent: from now on it is sent as it is, or given up as a whole.
  expect(await findOrdered(pool, 'acme', 9)).toMatchObject([
    { retryId, orderId, isSent: true, evenSuperseded: false, keyId: null },
    { retryId: another, orderId: orderOfAnother, isSent: false },
  ])
  expect(await countOutcomes(pool, [retryId, another])).toEqual({ accepted: 0, refused: 0, waiting: 3 })
  expect(await countOutcomes(pool, [retryId])).toEqual({ accepted: 0, refused: 0, waiting: 2 })
})
