import { expect, it } from 'vitest'
import { interactionVerdictsBefore, rejectionsBefore, retriesBefore, verdictsBefore } from '#ledger/retention.js'

const day = 86_400_000
const now = Date.parse('2026-03-31T13:45:00Z')

it('keeps verdicts by the hour', () =>
  expect(verdictsBefore(now, { VERDICT_RETENTION_HOURS: 24 }).toISOString()).toBe('2026-03-30T13:45:00.000Z'))

it('keeps verdicts on interactions for a day, or for less where all go sooner', () => {
  const verdicts = verdictsBefore(now, { VERDICT_RETENTION_HOURS: 720 })
  expect(interactionVerdictsBefore(now, verdicts).toISOString()).toBe('2026-03-30T13:45:00.000Z')
  expect(interactionVerdictsBefore(now, new Date(now - 3_600_000))).toEqual(new Date(now - 3_600_000))
})

it('keeps rejections by whole days, so that a day is deleted once', () => {
  const before = rejectionsBefore(now, { REJECTION_RETENTION_DAYS: 90 })
  expect(before.toISOString()).toBe('2025-12-31T00:00:00.000Z')
  expect(rejectionsBefore(now + 3_600_000, { REJECTION_RETENTION_DAYS: 90 })).toEqual(before)
})

it.each([1, 90, 400])('keeps retries for as long as a rejection of %i days can come back from its topic', (days) => {
  const rejections = rejectionsBefore(now, { REJECTION_RETENTION_DAYS: days })
  const retries = retriesBefore(rejections, now, 90 * day).getTime()
  expect(retries).toBeLessThan(rejections.getTime() - 7 * day)
  expect(retries).toBeLessThan(now - 97 * day)
})
