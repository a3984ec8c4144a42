import { expect, it } from 'vitest'
import { attemptWords } from '../../clients/console/pages/webhooks/log.js'
import { lookAgainAfter } from '../../clients/console/pages/webhooks/state.js'
import type { Webhook } from '../../clients/typescript/src/endpoints.js'

const webhook: Webhook = {
  ...{
    webhook_id: 'w',
    url: 'https://example.com/hook',
    events: ['records.accepted'],
    created_at: '2026-01-31T12:00:00Z',
  },
  ...{ enabled: true, disabled_at: null, disabled_reason: null, failing_since: null, waiting_since: null },
}

it('looks again by itself only while something is on its way, and more seldom where the receiver fails', () => {
  expect(lookAgainAfter(webhook, true)).toEqual({ every: 1_000 })
  expect(lookAgainAfter({ ...webhook, failing_since: '2026-01-31T12:00:00Z' }, true)).toEqual({ every: 5_000 })
  expect(lookAgainAfter(webhook, false)).toEqual({})
  expect(lookAgainAfter(undefined, true)).toEqual({})
  // Nothing is sent to it, so nothing changes.
  expect(lookAgainAfter({ ...webhook, enabled: false }, true)).toEqual({})
})

it('says of an attempt what was answered, or why nothing was, and how long it took', () => {
  const at = '2026-01-31T12:00:00Z'
  expect(attemptWords({ at, ms: 1_234, status: 500, answer: 'no' })).toBe('500 after 1,234 ms')
  expect(attemptWords({ at, ms: 15_001, status: null, problem: 'no answer within 15 s' })).toBe(
    'no answer within 15 s (15,001 ms)',
  )
  expect(attemptWords({ at, ms: 0, status: null, problem: 'what was in it is no longer kept' })).toBe(
    'what was in it is no longer kept',
  )
})
