import { type Arrived, type DueTurn, type DueWait, findArrived, findDue } from '#ledger/waiting/turns.js'
import type { Pool } from '#platform/postgres/postgres.js'

// What a turn of the relay sends: a share of it for each organisation that has something, by bytes. First come, first served would
// let one organisation's 20 000 large records hold up the releases of all others for a quarter of an hour.

const mostArrived = 2_000
const mostBehind = 10_000
const mostDue = 2_000
// What a record counts for beside its bytes.
const costOfRecord = 1024

/** What there is to send, as one look after another finds it; `isAll` where this one has seen every organisation. */
export const createLooks = (pool: Pool, now: () => number) => {
  let afterArrived: string | undefined
  let [afterUntil, afterDue]: (DueTurn | undefined)[] = []
  return async () => {
    const arrived = await findArrived(pool, mostArrived, mostBehind, afterArrived)
    const over = await findDue(pool, 'until', now(), mostDue, afterUntil)
    const due = await findDue(pool, 'due_at', now(), mostDue, afterDue)
    const isFromBeginning = !afterArrived && !afterUntil && !afterDue
    ;[afterArrived, afterUntil, afterDue] = [arrived.goOnAfter, over.goOnAfter, due.goOnAfter]
    const isAll = isFromBeginning && !afterArrived && !afterUntil && !afterDue
    return { arrived: arrived.arrived, due: [...over.due, ...due.due], isAll }
  }
}

/** A record that could be sent in this turn; `behind` is what it waited for, where that has come. */
type Candidate = { wait: DueWait; behind?: Arrived }

/** Fair between organisations; and within each, between what has come and what is over. */
export const inFairOrder = (due: readonly DueWait[], arrived: readonly Arrived[]): Candidate[] => {
  const candidates: Candidate[] = due.map((wait) => ({ wait }))
  for (const each of arrived) for (const wait of each.waits) candidates.push({ wait, behind: each })
  const ofEachKind = byTurns(candidates, ({ wait, behind }) => `${behind ? 'arrived' : 'due'}/${wait.orgId}`)
  return byTurns(ofEachKind, ({ wait }) => wait.orgId)
}

/** Who has had the least so far comes next; of each the order stays. */
const byTurns = (candidates: readonly Candidate[], whoseOf: (candidate: Candidate) => string): Candidate[] => {
  const had = new Map<string, number>()
  const placed = candidates.map((candidate) => {
    const whose = whoseOf(candidate)
    const before = had.get(whose) ?? 0
    had.set(whose, before + candidate.wait.size + costOfRecord)
    return { candidate, before }
  })
  return placed.sort((a, b) => a.before - b.before).map(({ candidate }) => candidate)
}

/** Those of its records that were taken; undefined where none was: the next turn begins with it. */
export const upTo = (arrived: Arrived, taken: number | undefined): Arrived | undefined => {
  if (taken === undefined) return arrived
  const waits = arrived.waits.slice(0, taken)
  const last = waits.at(-1)
  return last && { ...arrived, waits, last }
}
