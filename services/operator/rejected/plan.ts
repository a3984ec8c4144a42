import type { Retry } from '#ledger/retries.js'
import { rejectionName } from '#ledger/retries.js'
import type { Candidate } from './find-candidates.js'

export type Plan = {
  toSend: Candidate[]
  /** A later record of the same id was accepted: sending these would turn the clock back. */
  superseded: number
  /** Cut off when they were kept. */
  truncated: number
  /** Sent again before, and answered. */
  alreadyRetried: number
}

/** Sorts rejections by what is to be done with them. Those that an earlier run holds are left to whoever finishes it. */
export const planRetry = (
  candidates: readonly Candidate[],
  retries: ReadonlyMap<string, Pick<Retry, 'outcome'>>,
  options: { evenSuperseded: boolean },
): Plan => {
  const plan: Plan = { toSend: [], superseded: 0, truncated: 0, alreadyRetried: 0 }
  for (const candidate of candidates) {
    const retry = retries.get(rejectionName(candidate))
    // Asked first: what was retried and accepted is superseded by itself.
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

/** Consecutive slices, each fit for one request: of one organisation and type, and within every limit of the edge. */
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
