import { rejectionName, type Unanswered } from '#ledger/retries.js'
import { findDecidedRequests } from '#ledger/verdicts.js'
import type { ClickHouse } from '#platform/clickhouse.js'
import type { Pool } from '#platform/postgres/postgres.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { keyedRequestId } from '#schemas/uuid.js'
import { findCandidates } from './find-candidates.js'
import { uploadPath } from './request-of.js'

/**
 * What an earlier run left: to be sent as it was, or given up. One that was decided is sent as it was, to learn its outcome;
 * so is one that nothing has overtaken. One that was never decided and holds a record whose id was accepted since then is
 * given up: its other records are retried like any, and that one is superseded.
 */
export const sortUnfinished = async (
  deps: { pool: Pool; clickhouse: ClickHouse; catalogue: Catalogue },
  unanswered: readonly Unanswered[],
  options: { evenSuperseded: boolean },
): Promise<{ resumed: Unanswered[]; givenUp: Unanswered[] }> => {
  const requestIdOf = ({ org, type, retryId }: Unanswered) => keyedRequestId(org, uploadPath(type), retryId)
  const decided = await findDecidedRequests(deps.pool, unanswered.map(requestIdOf))

  const isOvertaken = async (one: Unanswered): Promise<boolean> => {
    const type = deps.catalogue.uploads.get(one.type)
    // Interactions do not replace each other.
    if (!type || options.evenSuperseded || decided.has(requestIdOf(one))) return false
    const times = one.wanted.map(({ rejectedAt }) => rejectedAt.getTime())
    const since = new Date(times.reduce((a, b) => Math.min(a, b)))
    const until = new Date(times.reduce((a, b) => Math.max(a, b)) + 1)
    const places = new Set(one.wanted.map(rejectionName))
    const candidates = await findCandidates(deps.clickhouse, type, { org: one.org, since, until })
    return candidates.some((candidate) => candidate.superseded && places.has(rejectionName(candidate)))
  }

  const sorted: { resumed: Unanswered[]; givenUp: Unanswered[] } = { resumed: [], givenUp: [] }
  for (const one of unanswered) sorted[(await isOvertaken(one)) ? 'givenUp' : 'resumed'].push(one)
  return sorted
}
