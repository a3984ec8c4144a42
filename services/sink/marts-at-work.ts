import { setTimeout as wait } from 'node:timers/promises'
import type { Log } from '#platform/health/log.js'
import type { Metrics } from '#platform/health/metrics.js'
import { isInParts } from '#schemas/derive/clickhouse/kept.js'
import type { Due } from './due-marts.js'
import type { MartKeeper } from './keep-marts.js'

const lookEvery = 2_000
const forgetEvery = 3_600_000
const afterFailure = 60_000
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
}): { stop: () => Promise<void> } => {
  const { keeper, isLeading, log } = deps
  const took = deps.metrics.histogram(
    'mart_seconds',
    'Time that it took to make the rows of a mart anew for a large organisation.',
    [0.1, 0.5, 1, 5, 10, 30, 60, 300],
    ['mart'],
  )
  const stopping = new AbortController()
  const rested = (ms: number): Promise<boolean> =>
    wait(ms, undefined, { signal: stopping.signal }).then(
      () => true,
      () => false,
    )

  /** Makes the first anew that is due in this lane; how long to rest afterwards. */
  const turn = async (isInLane: (due: Due) => boolean): Promise<number> => {
    const next = isLeading() ? (await keeper.due()).find(isInLane) : undefined
    if (!next) return lookEvery
    const began = performance.now()
    await keeper.keep(next)
    const seconds = (performance.now() - began) / 1000
    took.observe({ mart: next.mart.name }, seconds)
    return Math.min(longestRest, seconds * 1000 * restFor)
  }

  const repeat = async (work: () => Promise<number>, first: number): Promise<void> => {
    for (let rest = first; await rested(rest); ) {
      rest = await work().catch((error: unknown) => {
        if (!stopping.signal.aborted) log.warn({ err: error }, 'marts could not be made anew now, it is tried again')
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
