import { type FieldChange, type RejectionId, type Retry, rejectionName } from '#ledger/retries/claims.js'
import type { StoredOrder } from '#ledger/retries/orders.js'
import { changedRecord } from '#rejections/changed-record.js'
import type { Rejection } from '#rejections/find-rejections.js'
import type { RetryPlan } from '#rejections/plan-retry.js'
import type { RejectionState } from '#rejections/states.js'
import type { RejectionGroup } from '#rejections/summary.js'
import type { Validate } from '#schemas/derive/validator.js'
import type { AnswerOf } from '#schemas/endpoints/endpoint.js'
import type { lookUpRetry } from '#schemas/endpoints/rejections.js'
import { asJson } from '#schemas/json-text.js'
import type { ProblemCode } from '#schemas/problem.js'

import { writeRetryPlace } from './question.js'

// What uploaders are answered about their rejections.

export type KnownRejection = Rejection & {
  state: RejectionState
  retry: Retry | undefined
  currentVersion: number | null
}

export const rejectionAnswer = (one: KnownRejection) => ({
  rejection_id: rejectionName(one),
  type: one.type,
  id: one.id,
  index: one.index,
  request_id: one.requestId,
  batch_id: one.batchId,
  rejected_at: one.rejectedAt,
  ...recordAnswer(one),
  problems: one.problems,
  state: one.state,
  current_version: one.currentVersion,
  ...(one.retry && { retry: retryAnswer(one.retry) }),
})

/** A record that is kept whole is shown as it was given; of one that was too large, the text up to where it was cut off. */
const recordAnswer = ({ record, truncated }: Pick<Rejection, 'record' | 'truncated'>) => ({
  record: truncated ? record : asJson(record),
  truncated: Boolean(truncated),
})

const retryAnswer = ({ claimed_at, outcome, request_id, answered_at, order_id }: Retry) => ({
  outcome: outcome ?? ('waiting' as const),
  request_id,
  retried_at: claimed_at,
  answered_at,
  // Null where an operator did it.
  retry_request_id: order_id,
})

export const groupAnswer = ({ type, code, field, count, firstSeen, lastSeen, sample }: RejectionGroup) => ({
  type,
  code: code as ProblemCode,
  field,
  count,
  first_seen: firstSeen,
  last_seen: lastSeen,
  sample: sample
    ? {
        rejection_id: rejectionName(sample),
        id: sample.id,
        message: sample.problems.find((each) => each.code === code && each.field === field)?.message ?? null,
        ...recordAnswer(sample),
      }
    : null,
})

export const valueAnswer = ({ value, rows }: { value: string; rows: number }) => ({
  value: asJson(value),
  count: rows,
})

/** What a change would make of a record that was refused. */
export const sampleOf = (
  one: RejectionId & { id?: string | null | undefined },
  text: string,
  change: FieldChange,
  validate: Validate,
) => {
  const after = JSON.parse(changedRecord(text, change)) as Record<string, unknown>
  const result = validate(after)
  return {
    rejection_id: rejectionName(one),
    id: one.id ?? null,
    before: (JSON.parse(text) as Record<string, unknown>)[change.field],
    after: after[change.field],
    problems: 'problems' in result ? result.problems : [],
  }
}

type Order = AnswerOf<typeof lookUpRetry>

/** Why rejections that were meant are not submitted. Together with those that are, they are all that matched. */
export const skippedOf = (plan: RetryPlan, notClaimed = 0): Order['skipped'] => ({
  already_retried: plan.alreadyRetried + plan.underWay + notClaimed,
  accepted_since: plan.superseded,
  not_kept_whole: plan.cannotBeRetried,
  over_limit: plan.overLimit,
})

/** Where the next call goes on; null where all that matched was looked at. */
export const nextOf = ({ next }: RetryPlan): string | null => (next ? writeRetryPlace(next) : null)

/** An order as it is answered, at once and at any time after. */
export const orderAnswer = (order: StoredOrder): Order => ({
  request_id: order.orderId,
  status: order.waiting > 0 ? 'running' : 'done',
  dry_run: false,
  matched: order.matched,
  submitted: order.submitted,
  // As `skippedOf` wrote it when the order was placed.
  skipped: order.skipped as Order['skipped'],
  next_cursor: order.nextCursor,
  waiting: order.waiting,
  accepted: order.accepted,
  refused: order.refused,
  given_up: order.submitted - order.waiting - order.accepted - order.refused,
  requests: order.requests,
})
