import { setTimeout as wait } from 'node:timers/promises'
import type { Log } from '#platform/health/log.js'
import type { Metrics } from '#platform/health/metrics.js'
import { isInParts } from '#schemas/derive/clickhouse/kept.js'
import type { Due } from './due-marts.js'
import { createMartSeconds } from './figures.js'
import type { MartKeeper } from './keep-marts.js'

const nameOf = ({ org, mart }: Due): string => `${org}/${mart.name}`

const usual = { lookEvery: 2_000, afterFailure: 60_000 }
const countEvery = 60_000
const forgetEvery = 3_600_000
// Of its time, each of the two lanes works a fourth at the most: analysts and the sink need ClickHouse, too.
const restFor = 3
const longestRest = 10 * 60_000

/**
 * Looks for what has changed, and makes it anew. Two lanes do so side by side: what takes moments does not wait behind what takes minutes.
 * Only one of all sinks does it: the one that leads.
 */
export const startKeepingMarts = (deps: {
  keeper: MartKeeper
  isLeading: () => boolean
  metrics: Metrics
  log: Log
  /** In milliseconds. */
  pace?: typeof usual
}): { stop: () => Promise<void> } => {
  const { keeper, isLeading, log, pace: { lookEvery, afterFailure } = usual } = deps
  const took = createMartSeconds(deps.metrics)
  const stopping = new AbortController()
  const rested = (ms: number): Promise<boolean> =>
    wait(ms, undefined, { signal: stopping.signal }).then(
      () => true,
      () => false,
    )

  const tell = (error: unknown, mart?: string): void => {
    if (!stopping.signal.aborted) log.warn({ err: error, mart }, 'marts could not be made anew now, it is tried again')
  }

  // To count all records is no work for every few seconds.
  let large: { orgs: readonly string[]; at: number } = { orgs: [], at: Number.NEGATIVE_INFINITY }
  const largeOnes = async (): Promise<readonly string[]> => {
    if (Date.now() - large.at > countEvery) large = { orgs: await keeper.large(), at: Date.now() }
    return large.orgs
  }

  // What one lane works on, the other leaves alone. What failed is left alone for a while, so that the others get their turn.
  const busy = new Set<string>()
  const failed = new Map<string, number>()
  const isFree = (name: string): boolean => !busy.has(name) && (failed.get(name) ?? 0) <= Date.now()

  /** Makes the first anew that is due in this lane; how long to rest afterwards. */
  const turn = async (isInLane: (due: Due) => boolean): Promise<number> => {
    if (!isLeading()) return lookEvery
    const due = await keeper.due(await largeOnes())
    const next = due.find((each) => isInLane(each) && isFree(nameOf(each)))
    if (!next) return lookEvery
    const name = nameOf(next)
    const began = performance.now()
    busy.add(name)
    try {
      await keeper.keep(next)
    } catch (error) {
      failed.set(name, Date.now() + afterFailure)
      tell(error, name)
    } finally {
      busy.delete(name)
    }
    const seconds = (performance.now() - began) / 1000
    took.observe({ mart: next.mart.name }, seconds)
    return Math.min(longestRest, seconds * 1000 * restFor)
  }

  const repeat = async (work: () => Promise<number>, first: number): Promise<void> => {
    for (let rest = first; await rested(rest); ) {
      rest = await work().catch((error: unknown) => {
        tell(error)
        return afterFailure
      })
    }
  }
  const isQuick = ({ mart, isWhole }: Due): boolean => isInParts(mart) && !isWhole
  const lanes = [
    repeat(() => turn(isQuick), lookEvery),
    repeat(() => turn((due) => !isQuick(due)), lookEvery),
    repeat(async () => {
      if (isLeading()) await keeper.forget()
      return forgetEvery
    }, forgetEvery),
  ]
  return {
    stop: async () => {
      stopping.abort()
      await Promise.all(lanes)
    },
  }
}
