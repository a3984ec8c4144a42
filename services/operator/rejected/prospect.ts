import { randomUUID } from 'node:crypto'
import {
  findRetries,
  findUnanswered,
  type Retry,
  rejectionName,
  releaseRetries,
  type Unanswered,
} from '#ledger/retries.js'
import { findDecidedRequests } from '#ledger/verdicts.js'
import type { ClickHouse } from '#platform/clickhouse.js'
import type { Pool } from '#platform/postgres/postgres.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { keyedRequestId } from '#schemas/uuid.js'
import { uploadPath } from './edge.js'
import type { Filter } from './filter.js'
import { type Candidate, countByType, findCandidates, type Wanted } from './find-rejections.js'

type Sources = { pool: Pool; clickhouse: ClickHouse; catalogue: Catalogue }

/** Records that are sent in one request; `isClaimed` where an earlier run claimed them. */
export type Job = { retryId: string; org: string; type: string; wanted: Wanted[]; isClaimed: boolean }

/** What a run would do. */
export type Prospect = {
  jobs: Job[]
  /** Records to be sent, and how many of them finish an earlier run. */
  records: number
  resumed: number
  superseded: number
  cannotBeRetried: number
  alreadyRetried: number
}

/** Looks at what is to be sent: first what an earlier run left, then what the filter means, referenced types first. */
export const prospectOf = async (
  sources: Sources,
  filter: Filter,
  options: { evenSuperseded: boolean; dryRun: boolean },
): Promise<Prospect> => {
  const { pool, clickhouse, catalogue } = sources
  const { resumed, givenUp } = await sortUnfinished(sources, await findUnanswered(pool), options)
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

/**
 * The requests that an earlier run left unanswered: each is sent again as it was, or given up. A request that was decided is
 * sent again to learn its outcome, and so is one that nothing has overtaken. A request that was never decided, and holds a
 * record whose id was accepted since then, is given up: that record is superseded, and its others are retried like any.
 */
const sortUnfinished = async (
  { pool, clickhouse, catalogue }: Sources,
  unanswered: readonly Unanswered[],
  options: { evenSuperseded: boolean },
): Promise<{ resumed: Unanswered[]; givenUp: Unanswered[] }> => {
  const requestIdOf = ({ org, type, retryId }: Unanswered) => keyedRequestId(org, uploadPath(type), retryId)
  const decided = await findDecidedRequests(pool, unanswered.map(requestIdOf))

  const isOvertaken = async (one: Unanswered): Promise<boolean> => {
    const type = catalogue.uploads.get(one.type)
    // Interactions do not replace each other.
    if (!type || options.evenSuperseded || decided.has(requestIdOf(one))) return false
    const times = one.wanted.map(({ rejectedAt }) => rejectedAt.getTime())
    const since = new Date(times.reduce((a, b) => Math.min(a, b)))
    const until = new Date(times.reduce((a, b) => Math.max(a, b)) + 1)
    const names = new Set(one.wanted.map(rejectionName))
    const candidates = await findCandidates(clickhouse, type, { org: one.org, since, until })
    return candidates.some((candidate) => candidate.superseded && names.has(rejectionName(candidate)))
  }

  const sorted: { resumed: Unanswered[]; givenUp: Unanswered[] } = { resumed: [], givenUp: [] }
  for (const one of unanswered) sorted[(await isOvertaken(one)) ? 'givenUp' : 'resumed'].push(one)
  return sorted
}

export type Plan = {
  toSend: Candidate[]
  /** A later record of the same id was accepted: sending these would turn the clock back. */
  superseded: number
  /** Too large to be kept whole. */
  truncated: number
  /** Sent again before, and answered. */
  alreadyRetried: number
}

/** Sorts rejections by what is to be done with them. Those that an unfinished run has claimed count for nothing here. */
export const planRetry = (
  candidates: readonly Candidate[],
  retries: ReadonlyMap<string, Pick<Retry, 'outcome'>>,
  options: { evenSuperseded: boolean },
): Plan => {
  const plan: Plan = { toSend: [], superseded: 0, truncated: 0, alreadyRetried: 0 }
  for (const candidate of candidates) {
    const retry = retries.get(rejectionName(candidate))
    // Asked first: a rejection whose retry was accepted is superseded by that very retry.
    if (retry) plan.alreadyRetried += retry.outcome === null ? 0 : 1
    else if (candidate.truncated) plan.truncated++
    else if (candidate.superseded && !options.evenSuperseded) plan.superseded++
    else plan.toSend.push(candidate)
  }
  return plan
}

// Far below what an edge takes by default: 16 MiB, and 200 000 JSON values.
const mostBytes = 4 * 1024 * 1024
const mostValues = 150_000

/** Consecutive slices, each fit for one request: of one organisation and type, and within every limit of an edge. */
export const cutIntoRequests = (candidates: readonly Candidate[], limitOf: (type: string) => number): Candidate[][] => {
  const requests: Candidate[][] = []
  let bytes = 0
  let values = 0
  for (const candidate of candidates) {
    const request = requests.at(-1)
    const first = request?.[0]
    bytes += candidate.bytes
    values += candidate.values
    const fits =
      request &&
      first?.org === candidate.org &&
      first.type === candidate.type &&
      request.length < limitOf(candidate.type) &&
      bytes <= mostBytes &&
      values <= mostValues
    if (fits) request.push(candidate)
    else {
      requests.push([candidate])
      bytes = candidate.bytes
      values = candidate.values
    }
  }
  return requests
}
