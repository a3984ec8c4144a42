import { claimRetries, rejectionName, releaseRetries, settleRetries } from '#ledger/retries.js'
import type { ClickHouse } from '#platform/clickhouse.js'
import type { Pool } from '#platform/postgres/postgres.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { OperatorError } from '../desk/operator-error.js'
import type { Edge } from './edge.js'
import { findRecords, type Wanted } from './find-records.js'
import { requestOf } from './request-of.js'
import type { RunKeys } from './run-keys.js'

/** Records that are sent in one request; `isClaimed` where an earlier run did that. */
export type Job = { retryId: string; org: string; type: string; wanted: Wanted[]; isClaimed: boolean }
/** `gone`: no longer among the rejections, or another run's by now. */
export type Sent = { accepted: number; refused: number; gone: number }

// Read ahead, because interactions are one request each.
const recordsAtOnce = 1000

/** Claims, sends and settles one request after the other: whatever ends it in between, the next run can go on. */
export const sendRequests = async (
  deps: { pool: Pool; clickhouse: ClickHouse; catalogue: Catalogue; edge: Edge; keys: RunKeys },
  jobs: readonly Job[],
  onSent: (sent: Sent, job: Job) => void,
): Promise<Sent> => {
  const { pool } = deps

  const sendOne = async (job: Job, records: ReadonlyMap<string, string>): Promise<Sent> => {
    const { retryId, org, type } = job
    const claimed = job.isClaimed ? job.wanted : await claimRetries(pool, retryId, toClaims(job))
    const texts = claimed.flatMap((each) => records.get(rejectionName(each)) ?? [])
    if (texts.length < claimed.length || texts.length === 0) {
      if (!job.isClaimed) await releaseRetries(pool, retryId)
      return { accepted: 0, refused: 0, gone: job.wanted.length }
    }
    const { path, body, read } = requestOf(deps.catalogue, type, texts)
    const key = await deps.keys.keyOf(org)
    const answer = await deps.edge.send({ path, key, idempotencyKey: retryId, body }, read)
    if ('impossible' in answer) {
      // Otherwise an earlier attempt may have been taken, whose answer was lost: the next run asks for it.
      if (answer.isAboutTheBody) await releaseRetries(pool, retryId)
      throw new OperatorError(`the edge does not take ${texts.length} ${type} of ${org}: ${answer.impossible}`)
    }
    const refused = new Set(answer.refused)
    const outcomes = claimed.map((each, i) => ({
      ...each,
      outcome: refused.has(i) ? ('refused' as const) : ('accepted' as const),
    }))
    await settleRetries(pool, answer.requestId, outcomes)
    const gone = job.wanted.length - claimed.length
    return { accepted: claimed.length - refused.size, refused: refused.size, gone }
  }

  const total: Sent = { accepted: 0, refused: 0, gone: 0 }
  for (const some of stretchesOf(jobs)) {
    const records = await findRecords(
      deps.clickhouse,
      some[0]?.org ?? '',
      some.flatMap(({ wanted }) => wanted),
    )
    for (const job of some) {
      const sent = await sendOne(job, records)
      total.accepted += sent.accepted
      total.refused += sent.refused
      total.gone += sent.gone
      onSent(sent, job)
    }
  }
  return total
}

const toClaims = ({ org, type, wanted }: Job) => wanted.map((each) => ({ ...each, org, type }))

/** Jobs of one organisation whose records are read at once. */
const stretchesOf = (jobs: readonly Job[]): Job[][] => {
  const stretches: Job[][] = []
  let count = 0
  for (const job of jobs) {
    const stretch = stretches.at(-1)
    count += job.wanted.length
    if (stretch && stretch[0]?.org === job.org && count <= recordsAtOnce) stretch.push(job)
    else {
      stretches.push([job])
      count = job.wanted.length
    }
  }
  return stretches
}
