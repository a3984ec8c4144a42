import { setTimeout as wait } from 'node:timers/promises'
import type { Log } from '#platform/health/log.js'
import type { Metrics } from '#platform/health/metrics.js'
import { isInParts } from '#schemas/derive/clickhouse/kept.js'
import { segmentMembers } from '#schemas/marts/segments/named.js'
import { segmentSizes } from '#schemas/marts/segments/own.js'
import type { Due } from './due-marts.js'
import { createMartSeconds } from './figures.js'
import type { MartKeeper } from './keep-marts.js'
import type { SegmentKeeper } from './keep-segments.js'

/** A piece of work: what it is for, and the mart that shows what comes of it. */
type Job = { name: string; mart: string; run: () => Promise<void> }

const usual = { lookEvery: 2_000, segmentsEvery: 10_000, afterFailure: 60_000 }
const countEvery = 60_000
const countSegmentsEvery = 300_000
const forgetEvery = 3_600_000
// For how many times as long as it has worked a lane rests: analysts and the sink need ClickHouse, too. What is made as a whole takes longest,
// and is not needed as soon.
const restFor = { parts: 3, wholes: 9, segments: 3 }
const longestRest = 10 * 60_000

/**
 * Looks for what has changed, and makes it anew. Three lanes do so side by side: what takes moments does not wait behind what takes minutes,
 * and the members of own segments wait for neither. Only one of all sinks does it: the one that leads.
 */
export const startKeepingMarts = (deps: {
  keeper: MartKeeper
  segments: SegmentKeeper
  isLeading: () => boolean
  metrics: Metrics
  log: Log
  /** In milliseconds. */
  pace?: typeof usual
}): { stop: () => Promise<void> } => {
  const { keeper, segments, isLeading, log, pace: { lookEvery, segmentsEvery, afterFailure } = usual } = deps
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

  /** Does the first of the jobs of a lane; how long to rest afterwards. */
  const turn = async (findJobs: () => Promise<Job[]>, otherwise: number, restFor: number): Promise<number> => {
    if (!isLeading()) return otherwise
    const next = (await findJobs()).find(({ name }) => isFree(name))
    if (!next) return otherwise
    const { name, mart, run } = next
    const began = performance.now()
    busy.add(name)
    try {
      await run()
    } catch (error) {
      failed.set(name, Date.now() + afterFailure)
      tell(error, name)
    } finally {
      busy.delete(name)
    }
    const seconds = (performance.now() - began) / 1000
    took.observe({ mart }, seconds)
    return Math.min(longestRest, seconds * 1000 * restFor)
  }

  const martJobs = async (isInLane: (due: Due) => boolean): Promise<Job[]> =>
    (await keeper.due(await largeOnes()))
      .filter(isInLane)
      .map((due) => ({ name: `${due.org}/${due.mart.name}`, mart: due.mart.name, run: () => keeper.keep(due) }))

  let countedAt = Number.NEGATIVE_INFINITY
  const countNamed: Job = {
    ...{ name: segmentSizes.name, mart: segmentSizes.name },
    run: async () => {
      await segments.countNamed()
      countedAt = Date.now()
    },
  }
  const segmentJobs = async (): Promise<Job[]> => [
    ...(Date.now() - countedAt > countSegmentsEvery ? [countNamed] : []),
    ...(await segments.due()).map((own) => ({
      ...{ name: `${own.org}/${segmentMembers.name}/${own.segment}`, mart: segmentMembers.name },
      run: () => segments.findMembers(own),
    })),
  ]

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
    repeat(() => turn(() => martJobs(isQuick), lookEvery, restFor.parts), lookEvery),
    repeat(() => turn(() => martJobs((due) => !isQuick(due)), lookEvery, restFor.wholes), lookEvery),
    repeat(() => turn(segmentJobs, segmentsEvery, restFor.segments), segmentsEvery),
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
