import { Unavailable } from '#http/request-error.js'
import { type FieldChange, rejectionName } from '#ledger/retries/claims.js'
import { countOrdered, findOrder, type NewOrder, placeOrder } from '#ledger/retries/orders.js'
import type { Filter } from '#rejections/filter.js'
import { countValues, findRecords, findRejections, type RejectionPlace } from '#rejections/find-rejections.js'
import { type AskedState, countStates, findOutStates, inState } from '#rejections/in-state.js'
import { planRetries, type RetryPlan, type Sources } from '#rejections/plan-retry.js'
import { findQuality } from '#rejections/quality.js'
import { findStates } from '#rejections/states.js'
import { findGroups } from '#rejections/summary.js'
import { createValidator } from '#schemas/derive/validator.js'
import { type KnownRejection, nextOf, sampleOf, skippedOf } from './answers.js'
import type { RetryAsked } from './question.js'

/** What the routes need to know and do about one organisation's rejections. */
export type OwnRejections = ReturnType<typeof createOwnRejections>

// A page has at most this many bytes of records: a record may have 64 KiB, and while a page is written nothing else is served.
const pageBytes = 4 * 1024 * 1024
const mostWaiting = 20_000
const mostSamples = 5

/** Which of them: those that a filter means, in a state where one is given. */
export type AskedRejections = { filter: Filter; state?: AskedState | undefined }

export const createOwnRejections = (sources: Sources, onPlaced: () => void) => {
  const { pool, clickhouse, catalogue } = sources
  const inAsked = async (org: string, { filter, state }: AskedRejections): Promise<Filter & { org: string }> => {
    const own = { ...filter, org }
    return state ? { ...own, within: [inState(await findOutStates(sources, own), state)] } : own
  }
  return {
    list: async (
      org: string,
      { after, limit, ...asked }: AskedRejections & { after?: RejectionPlace; limit: number },
    ) => {
      const found = await findRejections(
        clickhouse,
        { ...(await inAsked(org, asked)), ...(after && { after }) },
        // One more than is shown tells whether there is a next page.
        limit + 1,
        pageBytes,
      )
      const page = found.slice(0, limit)
      const states = await findStates(sources, org, page)
      const rejections = page.map((one, i): KnownRejection => ({ ...one, ...(states[i] ?? open) }))
      const bytes = page.reduce((sum, { record }) => sum + Buffer.byteLength(record), 0)
      // A page that is full of bytes may be the last one too; then the next one is empty.
      return { rejections, isLast: found.length <= limit && bytes < pageBytes }
    },
    groups: async (org: string, { filter, state }: AskedRejections, most: number) => {
      const own = { ...filter, org }
      const stated = await findOutStates(sources, own)
      const meant = state ? { ...own, within: [inState(stated, state)] } : own
      return { groups: await findGroups(clickhouse, meant, most), states: await countStates(clickhouse, stated) }
    },
    values: async (org: string, field: string, asked: AskedRejections, most: number) =>
      countValues(clickhouse, await inAsked(org, asked), field, most),
    quality: (org: string, days: { from: string; to: string }) => findQuality(clickhouse, org, days),
    /** What would be submitted again, at most `limit`, from a place on. */
    plan: (org: string, { filter, limit, after }: Pick<RetryAsked, 'filter' | 'limit' | 'after'>) =>
      planRetries(sources, { ...filter, org }, { evenSuperseded: false, limit, after }),
    /** The first few of a plan, with what a change would make of them, and what would still be wrong with each by itself. */
    samples: async (org: string, { jobs: [job] }: RetryPlan, change: FieldChange) => {
      const type = job && catalogue.all.get(job.type)
      const some = job?.wanted.slice(0, mostSamples) ?? []
      const records = await findRecords(clickhouse, org, some)
      const validate = type && createValidator(type)
      return some.flatMap((one) => {
        const text = records.get(rejectionName(one))
        return text === undefined || !validate ? [] : [sampleOf(one, text, change, validate)]
      })
    },
    /** Whether so much of this organisation waits to be submitted that no more is taken. */
    isBusy: (org: string) => countOrdered(pool, org).then((count) => count >= mostWaiting, unavailable),
    /** Claims what was planned, to be submitted in the background; does nothing where the order is there already. */
    place: async (order: NewOrder, plan: RetryPlan): Promise<void> => {
      const claims = plan.jobs.flatMap(({ retryId, org, type, wanted }) =>
        wanted.map(({ batchId, index, rejectedAt, id }) => ({ retryId, org, type, batchId, index, rejectedAt, id })),
      )
      const countsOf = (claimed: number) => ({
        matched: plan.matched,
        submitted: claimed,
        skipped: skippedOf(plan, claims.length - claimed),
        nextCursor: nextOf(plan),
      })
      await placeOrder(pool, order, claims, countsOf).catch(unavailable)
      onPlaced()
    },
    findOrder: (org: string, orderId: string) => findOrder(pool, org, orderId).catch(unavailable),
  }
}

const open = { state: 'open', retry: undefined, currentVersion: null } as const

const unavailable = (cause: unknown): never => {
  throw new Unavailable('retries cannot be noted or looked up at the moment', { cause })
}
