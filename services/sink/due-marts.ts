import { isInParts, type KeptMart } from '#schemas/derive/clickhouse/kept.js'

/** Milliseconds, by the clock of ClickHouse. */
type Moment = number
export type Change = { org: string; type: string; storedAt: Moment }
/** When it was last made anew, in parts or as a whole, and when as a whole. */
export type Shown = { org: string; mart: string; keptAt: Moment; wholeAt: Moment }
export type Due = { org: string; mart: KeptMart; isWhole: boolean }

/** A row can be seen a while after the moment that is noted for it: so long, what was kept meanwhile is not final. */
export const settledAfter = 60_000
const hour = 3_600_000
// Half of the time for which kept rows are shown.
const atLeastEvery = 12 * hour
// Whatever went wrong with a part, it does not stay so.
const wholeEvery = 24 * hour

/** What has to be made anew, the longest overdue first. */
export const findDue = (known: {
  marts: readonly KeptMart[]
  /** The organisations that marts are kept for. */
  large: readonly string[]
  changes: readonly Change[]
  shown: readonly Shown[]
  now: Moment
}): Due[] => {
  const storedAt = new Map(known.changes.map((change) => [keyOf(change.org, change.type), change.storedAt]))
  const shown = new Map(known.shown.map((each) => [keyOf(each.org, each.mart), each]))
  const never = { keptAt: -wholeEvery, wholeAt: -wholeEvery }
  return known.large
    .flatMap((org) =>
      known.marts.map((mart) => {
        const { keptAt, wholeAt } = shown.get(keyOf(org, mart.name)) ?? never
        const changedAt = Math.max(
          0,
          ...mart.from.map((type) => storedAt.get(keyOf(org, type)) ?? 0),
          ...(mart.kept.reads ?? []).map((read) => shown.get(keyOf(org, read))?.keptAt ?? 0),
        )
        const wholeDue = wholeAt + (mart.kept.byClock ? hour : wholeEvery)
        const at = Math.min(wholeDue, keptAt + atLeastEvery, nextAfter(keptAt, changedAt))
        const isWhole = !isInParts(mart) || wholeDue <= known.now
        return { org, mart, isWhole, at }
      }),
    )
    .filter(({ at }) => at <= known.now)
    .sort((one, other) => one.at - other.at)
    .map(({ org, mart, isWhole }) => ({ org, mart, isWhole }))
}

/** At once after a change, and once more when everything that was written with it can be seen. */
const nextAfter = (keptAt: Moment, changedAt: Moment): Moment => {
  if (keptAt < changedAt) return changedAt
  return keptAt < changedAt + settledAfter ? changedAt + settledAfter : Number.POSITIVE_INFINITY
}

const keyOf = (org: string, name: string): string => `${org}/${name}`
