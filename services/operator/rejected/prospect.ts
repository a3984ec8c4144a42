import { randomUUID } from 'node:crypto'
import { findRetries, findUnanswered, releaseRetries } from '#ledger/retries.js'
import type { ClickHouse } from '#platform/clickhouse.js'
import type { Pool } from '#platform/postgres/postgres.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { writeScope } from '#schemas/derive/scopes.js'
import { countByType } from './count-rejections.js'
import type { Edge } from './edge.js'
import type { Filter } from './filter.js'
import { findCandidates } from './find-candidates.js'
import { cutIntoRequests, planRetry } from './plan.js'
import { createRunKeys } from './run-keys.js'
import { type Job, type Sent, sendRequests } from './send-again.js'
import { sortUnfinished } from './unfinished.js'

type Parts = { pool: Pool; clickhouse: ClickHouse; catalogue: Catalogue }

/** What a run would do. */
export type Prospect = {
  jobs: Job[]
  /** Records that are sent; how many of them finish an earlier run. */
  records: number
  resumed: number
  superseded: number
  cannotBeRetried: number
  alreadyRetried: number
}

/** Looks at what is to be sent: first what an earlier run left, then what the filter means, referenced types first. */
export const prospectOf = async (
  parts: Parts,
  filter: Filter,
  options: { evenSuperseded: boolean; dryRun: boolean },
): Promise<Prospect> => {
  const { pool, clickhouse, catalogue } = parts
  const { resumed, givenUp } = await sortUnfinished(parts, await findUnanswered(pool), options)
  if (!options.dryRun) for (const { retryId } of givenUp) await releaseRetries(pool, retryId)
  const jobs: Job[] = resumed.map((one) => ({ ...one, isClaimed: true }))
  const prospect: Prospect = { jobs, records: 0, resumed: 0, superseded: 0, cannotBeRetried: 0, alreadyRetried: 0 }
  prospect.resumed = resumed.reduce((sum, { wanted }) => sum + wanted.length, 0)

  const counts = await countByType(clickhouse, filter)
  for (const [type, count] of counts) if (!catalogue.all.has(type)) prospect.cannotBeRetried += count
  for (const type of catalogue.all.values()) {
    if (!counts.has(type.type)) continue
    const candidates = await findCandidates(clickhouse, type, filter)
    const plan = planRetry(candidates, await findRetries(pool, candidates), options)
    prospect.superseded += plan.superseded
    prospect.cannotBeRetried += plan.truncated
    prospect.alreadyRetried += plan.alreadyRetried
    for (const wanted of cutIntoRequests(plan.toSend, () => type.limit)) {
      jobs.push({ retryId: randomUUID(), org: wanted[0]?.org ?? '', type: type.type, wanted, isClaimed: false })
    }
  }
  prospect.records = jobs.reduce((sum, { wanted }) => sum + wanted.length, 0)
  return prospect
}

/** Sends all of it, with keys that live no longer than this run. */
export const sendAgain = async (
  parts: Parts & { edge: Edge },
  { jobs }: Pick<Prospect, 'jobs'>,
  onSent: (sent: Sent, job: Job) => void,
): Promise<Sent> => {
  const scopesOf = (org: string) => [
    ...new Set(jobs.filter((job) => job.org === org).map(({ type }) => writeScope(type))),
  ]
  const keys = createRunKeys(parts.pool, scopesOf)
  try {
    return await sendRequests({ ...parts, keys }, jobs, onSent)
  } finally {
    await keys.revokeAll()
  }
}
