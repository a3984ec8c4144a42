import { uuidv7 } from 'uuidv7'
import { adoptRetries, claimRetries, countOutcomes, type Unanswered } from '#ledger/retries/claims.js'
import { placeOrder } from '#ledger/retries/orders.js'
import { groupBy } from '#platform/group-by.js'
import type { Pool } from '#platform/postgres/postgres.js'
import type { Job } from '#rejections/plan-retry.js'
import { askOnce, type Part } from '../command/ask-servers.js'
import { OperatorError } from '../command/operator-error.js'
import { until } from '../command/until.js'
import { recordsIn } from './prospect.js'

/** `givenUp`: not sent, because their ids were accepted since they were ordered. `gone`: claimed by another run by now. */
export type Sent = { accepted: number; refused: number; givenUp: number; gone: number }

export type OrderDeps = {
  pool: Pool
  edge: Part
  signal: AbortSignal
  note: (text: string) => void
  onDone: (records: number) => void
  /** How long nothing may be decided before the edge is asked whether it is there, in milliseconds. */
  patience?: number
}

/** Orders these requests, which the edges send, and watches until they are done. What was ordered outlives a killed run. */
export const orderRetries = async (
  deps: OrderDeps,
  { jobs, unfinished }: { jobs: readonly Job[]; unfinished: readonly Unanswered[] },
  options: { evenSuperseded: boolean; replaceEachOther: (type: string) => boolean },
): Promise<Sent> => {
  const { pool } = deps
  const total: Sent = { accepted: 0, refused: 0, givenUp: 0, gone: 0 }
  const add = async (some: readonly Pick<Job, 'retryId' | 'wanted'>[], claimed: number): Promise<void> => {
    const { accepted, refused } = await watch(deps, some, claimed)
    total.accepted += accepted
    total.refused += refused
    total.givenUp += claimed - accepted - refused
  }

  const left = createOrders(pool, unfinished, options)
  for (const [org, some] of byOrg(unfinished.filter(({ orderId }) => orderId === null)))
    await adoptRetries(pool, await left(org), retryIdsOf(some))

  const orderOf = createOrders(pool, jobs, options)
  // Without a check of what was overtaken, the order in which they are sent is all that keeps an older record behind a newer one.
  const mostOf = (type: string) => (options.evenSuperseded && options.replaceEachOther(type) ? 0 : mostOrdered)
  for (const wave of wavesOf(jobs, mostOf)) {
    let claimed = 0
    for (const [org, some] of byOrg(wave)) {
      const claims = some.flatMap(({ wanted, ...job }) => wanted.map((each) => ({ ...each, ...job })))
      claimed += (await claimRetries(pool, claims, await orderOf(org))).length
    }
    const lost = recordsIn(wave) - claimed
    total.gone += lost
    deps.onDone(lost)
    await add(wave, claimed)
  }
  // Watched last: the edges send them before all that was ordered later, and where they cannot, the rest is not held up.
  await add(unfinished, recordsIn(unfinished))
  return total
}

// As many as an uploader may order at once: an edge looks through all that waits of an organisation for each request.
const mostOrdered = 10_000

/** What is referred to is decided first; of one organisation no more than `mostOf` its type wait at once, or one request. */
export const wavesOf = function* (jobs: readonly Job[], mostOf: (type: string) => number): Generator<Job[]> {
  for (let left = jobs; left[0]; ) {
    const { type } = left[0]
    const taken = new Map<string, number>()
    const isTaken = ({ type: other, org, wanted }: Job): boolean => {
      const before = taken.get(org) ?? 0
      const isFull = other !== type || (before > 0 && before + wanted.length > mostOf(type))
      if (other === type) taken.set(org, isFull ? Number.POSITIVE_INFINITY : before + wanted.length)
      return !isFull
    }
    const wave = new Set(left.filter(isTaken))
    left = left.filter((job) => !wave.has(job))
    yield [...wave]
  }
}

/** The order of an organisation for this run, placed when it is first needed. */
const createOrders = (
  pool: Pool,
  jobs: readonly Pick<Job, 'org' | 'wanted'>[],
  options: { evenSuperseded: boolean },
) => {
  const orders = new Map<string, string>()
  return async (org: string): Promise<string> => {
    const orderId = orders.get(org) ?? uuidv7()
    if (orders.has(org)) return orderId
    const submitted = recordsIn(jobs.filter((job) => job.org === org))
    // An operator sends no body.
    const order = { orderId, org, keyId: null, bodySha256: Buffer.alloc(0), operators: options }
    await placeOrder(pool, order, [], () => ({ matched: submitted, submitted, skipped: {} }))
    orders.set(org, orderId)
    return orderId
  }
}

const lookEvery = 500
const silences = 5

/** Waits until all of these records are accepted, refused or given up. Stops where no edge does anything about them. */
const watch = async (
  { pool, edge, signal, note, onDone, patience = 120_000 }: OrderDeps,
  jobs: readonly Pick<Job, 'retryId'>[],
  records: number,
): Promise<{ accepted: number; refused: number }> => {
  const retryIds = retryIdsOf(jobs)
  let outcomes = { accepted: 0, refused: 0, waiting: records }
  let silent = 0
  let lastSign = Date.now()
  await until(
    async () => {
      signal.throwIfAborted()
      const before = outcomes.waiting
      outcomes = await countOutcomes(pool, retryIds)
      if (outcomes.waiting < before) {
        onDone(before - outcomes.waiting)
        lastSign = Date.now()
        silent = 0
      } else if (outcomes.waiting > 0 && Date.now() - lastSign > patience) {
        lastSign = Date.now()
        silent++
        const away = await askOnce({ ...edge, away: awayLine })
        if (away !== undefined) throw new OperatorError(away)
        if (silent === silences) throw new OperatorError(silentLine(edge.address))
        note('nothing was decided for a while: the edge waits for integrity or ClickHouse, and goes on by itself')
      }
      return outcomes.waiting === 0
    },
    { every: lookEvery, signal },
  )
  return outcomes
}

const awayLine = (address: string, reason: string): string =>
  `the edge does not answer at ${address} (${reason}): nothing is lost; run this again to go on`

const silentLine = (address: string): string =>
  `the edge answers at ${address}, but sends nothing of what was ordered: is it one of this system, and are integrity and the sink ` +
  'well? Nothing is lost; run this again to go on'

const retryIdsOf = (jobs: readonly Pick<Job, 'retryId'>[]): string[] => jobs.map(({ retryId }) => retryId)

const byOrg = <One extends { org: string }>(all: readonly One[]) => groupBy(all, ({ org }) => org)
