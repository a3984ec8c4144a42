import { randomUUID } from 'node:crypto'
import type { Listed } from '../../../../services/operator/rejected/list.js'

export const now = new Date('2026-03-31T12:00:00Z')
/** A refused offer; `over` replaces some of it. */
export const listed = (over: Partial<Listed> = {}): Listed => ({
  batchId: randomUUID(),
  index: 17,
  rejectedAt: new Date('2026-03-31T11:55:00Z'),
  org: 'acme',
  type: 'offers',
  requestId: randomUUID(),
  id: randomUUID(),
  version: 8192,
  problems: [{ field: 'shop_id', code: 'unknown_reference', message: 'shop_id x is not a known record of shops' }],
  record: '{"name":"Ten off","value":10}',
  truncated: false,
  retry: undefined,
  ...over,
})
/** A retry of it. */
export const retried = (outcome: 'accepted' | 'refused' | null) => ({
  retry_id: randomUUID(),
  claimed_at: now,
  outcome,
  request_id: outcome && randomUUID(),
  answered_at: outcome && now,
  order_id: null,
})
