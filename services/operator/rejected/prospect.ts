import { findUnanswered, releaseRetries, type Unanswered } from '#ledger/retries/claims.js'
import type { Filter } from '#rejections/filter.js'
import { findRecords } from '#rejections/find-rejections.js'
import { findOvertaken, type Job, planRetries, type RetryPlan, type Sources } from '#rejections/plan-retry.js'

/** What a run would do: `unfinished` is what an earlier run left, `jobs` what the filter means. */
export type Prospect = Pick<RetryPlan, 'jobs' | 'superseded' | 'cannotBeRetried' | 'alreadyRetried'> & {
  unfinished: Unanswered[]
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
  const unfinished: Unanswered[] = []
  let gone = 0
  for (const one of await findUnanswered(sources.pool)) {
    // Ordered ones the edges look at by themselves. One without an order was begun by an older version, and is given up where a record
    // of it was accepted since: that record is superseded, and its others are retried like any.
    const isGivenUp = one.orderId === null && !options.evenSuperseded && (await findOvertaken(sources, one)).size > 0
    if (isGivenUp && !options.dryRun) await releaseRetries(sources.pool, one.retryId)
    if (isGivenUp) continue
    const records = await findRecords(sources.clickhouse, one.org, one.wanted)
    if (records.size === one.wanted.length) unfinished.push(one)
    else gone += one.wanted.length
  }
  const { jobs, superseded, cannotBeRetried, alreadyRetried } = await planRetries(sources, filter, options)
  const resumed = recordsIn(unfinished)
  return {
    ...{ jobs, superseded, alreadyRetried, cannotBeRetried: cannotBeRetried + gone },
    ...{ unfinished, resumed, records: resumed + recordsIn(jobs) },
  }
}

export const recordsIn = (jobs: readonly Pick<Job, 'wanted'>[]): number =>
  jobs.reduce((sum, { wanted }) => sum + wanted.length, 0)
