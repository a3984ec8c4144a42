import { findUnanswered, releaseRetries, type Unanswered } from '#ledger/retries/claims.js'
import type { Filter } from '#rejections/filter.js'
import { findOvertaken, type Job, planRetries, type RetryPlan, type Sources } from '#rejections/plan-retry.js'

/** What a run would do. */
export type Prospect = Omit<RetryPlan, 'matched' | 'underWay' | 'overLimit'> & {
  /** Records to be sent, and how many of them finish an earlier run. */
  records: number
  resumed: number
}

/** Looks at what is to be sent: first what an earlier run left, then what the filter means, referenced types first. */
export const prospectOf = async (
  sources: Sources,
  filter: Filter,
  options: { evenSuperseded: boolean; dryRun: boolean },
): Promise<Prospect> => {
  const { resumed, givenUp } = await sortUnfinished(sources, await findUnanswered(sources.pool), options)
  if (!options.dryRun) for (const { retryId } of givenUp) await releaseRetries(sources.pool, retryId)
  const plan = await planRetries(sources, filter, options)
  const jobs: Job[] = [...resumed.map((one) => ({ ...one, isClaimed: true })), ...plan.jobs]
  return {
    jobs,
    records: recordsIn(jobs),
    resumed: recordsIn(resumed),
    superseded: plan.superseded,
    cannotBeRetried: plan.cannotBeRetried,
    alreadyRetried: plan.alreadyRetried,
  }
}

const recordsIn = (jobs: readonly Pick<Job, 'wanted'>[]): number =>
  jobs.reduce((sum, { wanted }) => sum + wanted.length, 0)

/**
 * The requests that an earlier run left unanswered: each is sent again as it was, or given up. A request that was decided is
 * sent again to learn its outcome, and so is one that nothing has overtaken. A request that was never decided, and holds a
 * record whose id was accepted since then, is given up: that record is superseded, and its others are retried like any.
 */
const sortUnfinished = async (
  sources: Sources,
  unanswered: readonly Unanswered[],
  options: { evenSuperseded: boolean },
): Promise<{ resumed: Unanswered[]; givenUp: Unanswered[] }> => {
  const sorted: { resumed: Unanswered[]; givenUp: Unanswered[] } = { resumed: [], givenUp: [] }
  for (const one of unanswered) {
    const isOvertaken = !options.evenSuperseded && (await findOvertaken(sources, one)).size > 0
    sorted[isOvertaken ? 'givenUp' : 'resumed'].push(one)
  }
  return sorted
}
