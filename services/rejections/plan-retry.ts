import { uuidv7 } from 'uuidv7'
import { findEarlierRequests, findRetries, type Retry, rejectionName, type Unanswered } from '#ledger/retries/claims.js'
import { findAcceptedBatches, findDecidedRequests } from '#ledger/verdicts.js'
import { findIdsThatWait } from '#ledger/waiting/look-up.js'
import { countReleased } from '#ledger/waiting/upkeep.js'
import type { Pool } from '#platform/postgres/postgres.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { database, logTableOf } from '#schemas/derive/names.js'
import { hasVersions, type RecordType } from '#schemas/record.js'
import { keyedRequestId } from '#schemas/uuid.js'
import type { Filter } from './filter.js'
import {
  type Candidate,
  type CandidatePlace,
  countByType,
  findCandidates,
  findSomeCandidates,
  findWanted,
  type Reader,
  type Wanted,
} from './find-rejections.js'

export type Sources = { pool: Pool; clickhouse: Reader; catalogue: Catalogue }

/** Records that are sent in one request. */
export type Job = { retryId: string; org: string; type: string; wanted: Wanted[] }

/** What is to be sent of the rejections that a filter means, referenced types first, and what is left out for which reason. */
export type RetryPlan = {
  jobs: Job[]
  matched: number
  superseded: number
  cannotBeRetried: number
  alreadyRetried: number
  /** Claimed by a run that is not done. */
  underWay: number
  /** Left for a later call, which goes on at `next`. */
  overLimit: number
  /** Undefined where all were looked at. */
  next: RetryPlace | undefined
}

/** How far a plan has looked: at everything of the types before this one, and up to this place of it. */
export type RetryPlace = CandidatePlace & { type: string }

// No record has a version this low.
const beginning = { version: 0, batchId: '00000000-0000-0000-0000-000000000000', index: 0 }

// How many rejections are looked at for one call, and how many at a time: each is some 200 bytes that the edge reads.
const usualBounds = { lookedAt: 100_000, atOnce: 20_000 }

/** Without a `limit`, everything that can be sent is; with one, up to that many of one organisation's, from a place on. */
export const planRetries = async (
  sources: Sources,
  filter: Filter,
  options: { evenSuperseded: boolean; limit?: number; after?: RetryPlace | undefined },
  bounds = usualBounds,
): Promise<RetryPlan> => {
  const { clickhouse, catalogue } = sources
  const { after } = options
  const plan: RetryPlan = {
    ...{ jobs: [], matched: 0, superseded: 0, cannotBeRetried: 0, alreadyRetried: 0, underWay: 0, overLimit: 0 },
    next: undefined,
  }
  const all = [...catalogue.all.values()]
  const types = all.slice(
    Math.max(
      0,
      all.findIndex(({ type }) => type === after?.type),
    ),
  )
  const counts = await countByType(clickhouse, filter, after)
  for (const [type, count] of counts) {
    const isKnown = catalogue.all.has(type)
    if (isKnown && !types.some((one) => one.type === type)) continue
    plan.matched += count
    if (!isKnown) plan.cannotBeRetried += count
  }
  let room = options.limit ?? Number.POSITIVE_INFINITY
  let lookedAt = 0
  for (const type of types) {
    const count = counts.get(type.type) ?? 0
    if (count === 0) continue
    if (room === 0 || lookedAt >= bounds.lookedAt) plan.next ??= { type: type.type, ...beginning }
    if (plan.next) {
      plan.overLimit += count
      continue
    }
    const toSend: Candidate[] = []
    let seen = 0
    for await (const candidates of candidatesOf(sources, type, filter, { ...options, atOnce: bounds.atOnce })) {
      const some = planRetry(candidates, await findRetries(sources.pool, candidates), { ...options, room })
      toSend.push(...some.toSend)
      room -= some.toSend.length
      seen += some.lookedAt
      lookedAt += some.lookedAt
      plan.superseded += some.superseded
      plan.cannotBeRetried += some.truncated
      plan.alreadyRetried += some.alreadyRetried
      plan.underWay += some.underWay
      const place = candidates[some.lookedAt - 1]
      if (seen < count && place && (room === 0 || lookedAt >= bounds.lookedAt)) {
        plan.next = { type: type.type, version: place.version, batchId: place.batchId, index: place.index }
        break
      }
    }
    plan.overLimit += Math.max(0, count - seen)
    for (const wanted of cutIntoRequests(toSend, () => mostInRequest(type))) {
      // Ids that grow with time: what is planned first is sent first.
      plan.jobs.push({ retryId: uuidv7(), org: wanted[0]?.org ?? '', type: type.type, wanted })
    }
  }
  return plan
}

/** The rejections of a type that a filter means: all at once, or, where there is a limit, piece by piece from a place on. */
async function* candidatesOf(
  { pool, clickhouse }: Sources,
  type: RecordType,
  filter: Filter,
  { limit, after, atOnce }: { limit?: number; after?: RetryPlace | undefined; atOnce: number },
): AsyncGenerator<Candidate[]> {
  if (limit === undefined) {
    yield await behindWaiting(pool, type.type, await findCandidates(clickhouse, type, filter))
    return
  }
  let place: CandidatePlace | undefined = after?.type === type.type ? after : undefined
  for (;;) {
    const found = await findSomeCandidates(clickhouse, type, filter, { most: atOnce, after: place })
    if (found.length > 0) yield await behindWaiting(pool, type.type, found)
    if (found.length < atOnce) return
    place = found.at(-1)
  }
}

export const uploadPath = (type: string): string => `/v1/data/${type}`

/** The id of the request that these rejections were, or will be, sent in. */
export const requestIdOf = ({ org, type, retryId }: Pick<Job, 'org' | 'type' | 'retryId'>): string =>
  keyedRequestId(org, uploadPath(type), retryId)

/**
 * Which records of an unanswered request must not be sent any more, because their ids were accepted since, or wait; by `rejectionName`. None
 * of a request that was decided: that one is sent again only to learn its outcome. Two rejections of one id may be in two requests of
 * an order: the older record, which the order had accepted a moment ago, has not overtaken the newer one.
 */
export const findOvertaken = async (
  { pool, clickhouse, catalogue }: Sources,
  one: Pick<Unanswered, 'org' | 'type' | 'orderId' | 'retryId' | 'evenSuperseded' | 'wanted'>,
): Promise<Set<string>> => {
  const type = catalogue.uploads.get(one.type)
  // Interactions do not replace each other.
  if (!type || one.evenSuperseded) return new Set()
  const requestId = requestIdOf(one)
  if ((await findDecidedRequests(pool, [requestId])).has(requestId)) return new Set()
  const found = await behindWaiting(pool, type.type, await findWanted(clickhouse, type, one.org, one.wanted))
  const superseded = found.filter((each) => each.superseded)
  if (superseded.length === 0) return new Set()
  const earlier = await findEarlierRequests(pool, one)
  return new Set(superseded.filter(({ supersededBy }) => !earlier.has(supersededBy ?? '')).map(rejectionName))
}

// The same rejections, with those as superseded whose id belongs to a record that waits: it came later, since a refusal that
// comes later ends the waiting. To submit the older record now would take the place of the newer one.
const behindWaiting = async (pool: Pool, type: string, candidates: readonly Candidate[]): Promise<Candidate[]> => {
  const named = candidates.flatMap(({ org, id }) => (id === null ? [] : [{ orgId: org, id }]))
  const waiting = await findIdsThatWait(pool, type, named)
  return candidates.map((one) =>
    waiting.has(`${one.org}/${one.id}`) ? { ...one, superseded: true, supersededBy: null } : one,
  )
}

// A sink that is further behind than this is an incident, which /readyz shows.
const lookBack = 3_600_000
// Their ids travel in the address.
const mostBatches = 3000

/** Whether ClickHouse shows all that was accepted by now; until then it cannot tell what a retry would undo. */
export const hasCaughtUp = async (
  { pool, clickhouse, catalogue }: Sources,
  { org, type: name }: Pick<Job, 'org' | 'type'>,
): Promise<boolean> => {
  const type = catalogue.uploads.get(name)
  if (!type) return true
  const since = new Date(Date.now() - lookBack)
  const decided = await findAcceptedBatches(pool, { org, type: name, since }, mostBatches)
  const released = await countReleased(pool, { org, type: name, since }, mostBatches)
  const expected = new Map<string, number>()
  for (const { batchId, accepted } of [...decided, ...released])
    expected.set(batchId, (expected.get(batchId) ?? 0) + accepted)
  const batches = [...expected.keys()]
  for (let from = 0; from < batches.length; from += mostBatches) {
    const asked = batches.slice(from, from + mostBatches)
    const rows = await clickhouse.query<{ batch_id: string; records: string }>(
      `select batch_id, uniqExact((${type.id}, version)) as records
      from ${database}.${logTableOf(name)}
      where org_id = {org:String} and accepted_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
        and batch_id in {batches:Array(UUID)}
      group by batch_id`,
      { org, since: since.getTime(), batches: asked },
    )
    const shown = new Map(rows.map(({ batch_id, records }) => [batch_id, Number(records)]))
    if (asked.some((batchId) => (shown.get(batchId) ?? 0) < (expected.get(batchId) ?? 0))) return false
  }
  return true
}

export type Plan = {
  toSend: Candidate[]
  /** A later record of the same id was accepted, or waits: sending these would turn the clock back. */
  superseded: number
  /** Too large to be kept whole. */
  truncated: number
  /** Sent again before, and answered. */
  alreadyRetried: number
  /** Claimed by a run that is not done. */
  underWay: number
  /** How many were sorted: all, or those up to the first that there was no room for. */
  lookedAt: number
}

/** Sorts rejections by what is to be done with them, until more than `room` are to be sent. */
export const planRetry = (
  candidates: readonly Candidate[],
  retries: ReadonlyMap<string, Pick<Retry, 'outcome'>>,
  options: { evenSuperseded: boolean; room?: number },
): Plan => {
  const room = options.room ?? Number.POSITIVE_INFINITY
  const plan: Plan = { toSend: [], superseded: 0, truncated: 0, alreadyRetried: 0, underWay: 0, lookedAt: 0 }
  for (const candidate of candidates) {
    const retry = retries.get(rejectionName(candidate))
    // Asked first: a rejection whose retry was accepted is superseded by that very retry.
    if (retry) plan[retry.outcome === null ? 'underWay' : 'alreadyRetried']++
    else if (candidate.truncated) plan.truncated++
    else if (candidate.superseded && !options.evenSuperseded) plan.superseded++
    else if (plan.toSend.length < room) plan.toSend.push(candidate)
    else break
    plan.lookedAt++
  }
  return plan
}

// Far below what an edge takes by default: 16 MiB, and 200 000 JSON values.
const mostBytes = 4 * 1024 * 1024
const mostValues = 150_000

/** Interactions are submitted again one by one, each with a key of its own. */
const mostInRequest = (type: RecordType): number => (hasVersions(type) ? type.limit : 1)

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
