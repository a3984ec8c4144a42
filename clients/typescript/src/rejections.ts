import type { Call, CallOptions } from './call.js'
import { eachOf, type ListOptions, queryOf, type TimeGiven } from './pages.js'
import { newKey } from './send.js'
import type { RecordProblem } from './weir-error.js'

/** Which rejections are meant: those to which everything applies that is given. */
export type RejectionFilter = {
  type?: string | undefined
  code?: string | undefined
  field?: string | undefined
  since?: TimeGiven | undefined
  until?: TimeGiven | undefined
  request_id?: string | undefined
}

/** A refused record, and what became of it since. */
export type RejectedRecord = {
  rejection_id: string
  type: string
  id: string | null
  index: number
  line?: number
  request_id: string
  batch_id: string
  rejected_at: string
  /** As it was given; only the beginning of its text where it was too large to be kept whole (`truncated`). */
  record: unknown
  truncated?: boolean
  problems: RecordProblem[]
  state: 'open' | 'retried' | 'accepted_since' | 'overtaken'
  /** Where it was submitted again: when, in which request, and what became of it. */
  retry?: {
    outcome: string
    request_id: string | null
    retried_at: string
    answered_at: string | null
    /** By this id `getRetry` knows it; null where an operator did it. */
    retry_request_id: string | null
  }
}

/** Rejections with one type, code and field. */
export type RejectedGroup = {
  type: string
  code: string
  field: string | null
  count: number
  first_seen: string
  last_seen: string
  /** One of them. */
  sample: {
    rejection_id: string
    id: string | null
    message: string | null
    record: unknown
    truncated: boolean
  } | null
}

/** Rejections that were submitted again, and what became of them so far. */
export type RejectionRetry = {
  request_id: string
  /** `running` while some of them are not decided. */
  status: 'running' | 'done'
  dry_run: boolean
  matched: number
  submitted: number
  /** How many were not, by the reason. */
  skipped: Record<string, number>
  accepted?: number
  refused?: number
  waiting?: number
  given_up?: number
}

export type Rejections = {
  /** Your organisation's refused records, newest first. */
  list: (filter?: RejectionFilter, options?: ListOptions) => AsyncGenerator<RejectedRecord, void, undefined>
  /** The same, counted by type, code and field. */
  summary: (filter?: RejectionFilter, options?: CallOptions) => Promise<RejectedGroup[]>
  /**
   * Has refused records submitted again, each at most once: for records that were right and came too early. It resolves when
   * that is noted; `getRetry` tells what became of it.
   */
  retry: (filter: RejectionFilter, options?: RetryOptions) => Promise<RejectionRetry>
  getRetry: (requestId: string, options?: CallOptions) => Promise<RejectionRetry>
}

export type RetryOptions = CallOptions & {
  /** Tells how many would be submitted, and submits none. */
  dryRun?: boolean | undefined
  /** How many at the most; 1000 unless said. */
  limit?: number | undefined
  idempotencyKey?: string | undefined
}

/** One type on one day (UTC). */
export type QualityOfDay = {
  type: string
  day: string
  received: number
  accepted: number
  refused: number
  /** Came on that day, and still wait for a record that they refer to. */
  waiting: number
  /** Waited, until a newer record of their id came or somebody cancelled it. */
  undecided: number
  top_codes: { code: string; count: number }[]
  last_accepted_at: string | null
}

export type Quality = {
  /** How many records came, and how good they were, by type and day: from and to, like 2026-01-31, both included. */
  get: (days?: { from?: string; to?: string }, options?: CallOptions) => Promise<QualityOfDay[]>
}

export const createRejections = (call: Call): Rejections => ({
  list: (filter = {}, options = {}) =>
    eachOf<RejectedRecord>(call, { path: '/v1/rejections', name: 'rejections' }, filter, options),
  summary: async (filter = {}, options) => {
    const { json } = await call({ method: 'GET', path: `/v1/rejections/summary${queryOf(filter)}` }, options)
    return (json as { groups: RejectedGroup[] }).groups
  },
  retry: async (filter, { dryRun, limit, idempotencyKey = dryRun ? undefined : newKey(), ...options } = {}) => {
    const body = JSON.stringify({ filter, dry_run: dryRun, limit })
    const { json } = await call({ method: 'POST', path: '/v1/rejections/retry', body, idempotencyKey }, options)
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
    return (json as { days: QualityOfDay[] }).days
  },
})
