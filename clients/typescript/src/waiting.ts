import { type Call, type CallOptions, pause } from './call.js'
import type { AnswerTo, AwaitedRecord, Endpoints, WaitingRecord } from './endpoints.js'
import { eachOf, type ListOptions, queryOf } from './pages.js'
import { WeirError } from './weir-error.js'

/** What becomes of records that refer to something that is not there yet. */
export type WaitOptions = {
  /** `wait`: they wait until it is there, and are accepted then. `refuse`, unless said: they are refused at once. */
  missingReferences?: 'wait' | 'refuse' | undefined
  /** How long they wait at the most: `90s`, `30m`, `24h` or `7d`, from a minute to 7 days; 24 hours unless said. */
  waitFor?: string | undefined
}

/** A record of yours that waits. */
export type RecordInWaiting = WaitingRecord

/** Which waiting records are meant; `missing_type` and `missing_id` name what they wait for, together. */
export type WaitingFilter = Endpoints['POST /v1/waiting/cancel']['body']

export type WaitingRecords = {
  /** What your records wait for, that which is waited for the longest first; with a type, missing records of that type. */
  list: (
    filter?: { type?: string | undefined },
    options?: ListOptions,
  ) => AsyncGenerator<AwaitedRecord, void, undefined>
  /** Your records that wait, the oldest first. */
  records: (filter?: WaitingFilter, options?: ListOptions) => AsyncGenerator<RecordInWaiting, void, undefined>
  /** Has records wait no longer: one, by type and id, or all that wait for the same. Resolves to how many waited until now. */
  cancel: (filter: WaitingFilter, options?: CallOptions) => Promise<number>
}

export const createWaiting = (call: Call): WaitingRecords => ({
  list: (filter = {}, options = {}) =>
    eachOf<AwaitedRecord>(call, { path: '/v1/waiting', name: 'missing' }, filter, options),
  records: (filter = {}, options = {}) =>
    eachOf<RecordInWaiting>(call, { path: '/v1/waiting/records', name: 'records' }, filter, options),
  cancel: async (filter, options) => {
    const body = JSON.stringify(filter)
    let cancelled = 0
    for (let idle = 0; ; ) {
      const { json } = await call({ method: 'POST', path: '/v1/waiting/cancel', body }, options)
      const step = json as AnswerTo<'POST /v1/waiting/cancel'>
      cancelled += step.cancelled
      if (step.complete) return cancelled
      // Those that are left are being decided, which takes a moment.
      idle = step.cancelled > 0 ? 0 : idle + 1
      if (idle === mostIdle)
        throw new WeirError(
          'server',
          `${step.left} records are being decided and still wait`,
          'call cancel again later',
        )
      if (idle > 0) await pause(idlePause, options?.signal)
    }
  },
})

const mostIdle = 20
const idlePause = 500

/** The query string of a request that lets its records wait, or does not. */
export const waitQueryOf = ({ missingReferences, waitFor }: WaitOptions, others: object = {}): string =>
  queryOf({ ...others, missing_references: missingReferences, wait_for: waitFor })
