import type { Call, CallOptions } from './call.js'
import type { AnswerTo, Endpoints, QualityDay, Rejection, RejectionGroup, RetryOrder, RetryPlan } from './endpoints.js'
import { eachOf, type ListOptions, queryOf } from './pages.js'
import { newKey } from './send.js'

/** Which rejections are meant: those to which everything applies that is given. */
export type RejectionFilter = Endpoints['GET /v1/rejections/summary']['query']

/** A refused record, and what became of it since. */
export type RejectedRecord = Rejection

/** Rejections with one type, code and field. */
export type RejectedGroup = RejectionGroup

/** Rejections that were submitted again, and what became of them so far; of a dry run, only how many would be. */
export type RejectionRetry = RetryPlan & Partial<RetryOrder>

export type Rejections = {
  /** Your organisation's refused records, newest first. */
  list: (filter?: RejectionFilter, options?: ListOptions) => AsyncGenerator<RejectedRecord, void, undefined>
  /** The same, counted by type, code and field. */
  summary: (filter?: RejectionFilter, options?: CallOptions) => Promise<RejectedGroup[]>
  /** What stands in a field of refused records with a problem in it, the commonest value first. */
  values: (filter: RejectedValuesFilter, options?: CallOptions) => Promise<RejectedValue[]>
  /** Has refused records submitted again, each at most once. It resolves when that is noted; `getRetry` says what came of it. */
  retry: (filter: Omit<RejectionFilter, 'state'>, options?: RetryOptions) => Promise<RejectionRetry>
  getRetry: (requestId: string, options?: CallOptions) => Promise<RejectionRetry>
}

export type RejectedValuesFilter = Endpoints['GET /v1/rejections/values']['query']

/** A value of a field, and how many refused records have it; null where the field is not there. */
export type RejectedValue = AnswerTo<'GET /v1/rejections/values'>['values'][number]

/** `from` (whatever it is, where left out) becomes `to` in each record; without `to`, the field is left out of it. */
export type RecordChange = { field: string; from?: unknown; to?: unknown }

export type RetryOptions = CallOptions & {
  /** One value that is changed in all of them first; needs a `type` in the filter. A dry run shows a few as they would be. */
  change?: RecordChange | undefined
  /** Tells how many would be submitted, and submits none. */
  dryRun?: boolean | undefined
  /** How many at the most; 1000 unless said. */
  limit?: number | undefined
  /** `next_cursor` of the call before: go on behind what that one looked at. */
  cursor?: string | undefined
  idempotencyKey?: string | undefined
}

/** One type on one day (UTC). */
export type QualityOfDay = QualityDay

export type Quality = {
  /** How many records came, and how good they were, by type and day: from and to, like 2026-01-31, both included. */
  get: (days?: { from?: string; to?: string }, options?: CallOptions) => Promise<QualityOfDay[]>
}

export const createRejections = (call: Call): Rejections => ({
  list: (filter = {}, options = {}) =>
    eachOf<RejectedRecord>(call, { path: '/v1/rejections', name: 'rejections' }, filter, options),
  summary: async (filter = {}, options) => {
    const { json } = await call({ method: 'GET', path: `/v1/rejections/summary${queryOf(filter)}` }, options)
    return (json as AnswerTo<'GET /v1/rejections/summary'>).groups
  },
  values: async (filter, options) => {
    const { json } = await call({ method: 'GET', path: `/v1/rejections/values${queryOf(filter)}` }, options)
    return (json as AnswerTo<'GET /v1/rejections/values'>).values
  },
  retry: async (filter, { dryRun, limit, cursor, change, idempotencyKey, ...options } = {}) => {
    const body = JSON.stringify({ filter, dry_run: dryRun, limit, cursor, change })
    const key = idempotencyKey ?? (dryRun ? undefined : newKey())
    const sent = { method: 'POST', path: '/v1/rejections/retry', body, idempotencyKey: key } as const
    const { json } = await call(sent, options)
    return json as RejectionRetry
  },
  getRetry: async (requestId, options) => {
    const path = `/v1/rejections/retries/${encodeURIComponent(requestId)}`
    return (await call({ method: 'GET', path }, options)).json as RejectionRetry
  },
})

export const createQuality = (call: Call): Quality => ({
  get: async (days = {}, options) => {
    const { json } = await call({ method: 'GET', path: `/v1/quality${queryOf(days)}` }, options)
    return (json as AnswerTo<'GET /v1/quality'>).days
  },
})
