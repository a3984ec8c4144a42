import { cpus } from 'node:os'
import { performance } from 'node:perf_hooks'
import { setImmediate as nextRound, setTimeout as wait } from 'node:timers/promises'
import type { Pause } from '#platform/process/pauses.js'

const longestStretch = 5
const lookEvery = 250
// Shares of all processors. With one that is alone on its machine, all of it is this process's own.
const busyBelow = 0.2
const othersFrom = 0.25
const sleepsFor = 19
const longestSleep = 500
// A person with little is forgotten by a hundred statements that nobody notices, also where each takes ten times as long as usual.
const shortWork = 250
const restsBetweenLooks = 500
const longestRest = 120_000

/** Milliseconds that all processors together have worked since some moment, and that were idle; `own`: those of this process. */
type ProcessorTimes = { worked: number; idle: number; own: number }

type GivingWayDeps = {
  now: () => number
  sleep: (ms: number) => Promise<unknown>
  times: () => ProcessorTimes
  /** Milliseconds that this thread has worked since some moment; what it has waited for is not among them. */
  worked: () => number
}

/**
 * Pauses for long work that nobody waits for: each lets everything else of the process have its turn, and while less than a fifth of the
 * machine is idle it sleeps nineteen times as long as it has worked, so that others have the machine. A low priority would not do: where each
 * service has a session of its own, Linux shares the processors between the sessions first.
 */
export const createGivingWay = (deps: Partial<GivingWayDeps> = {}): Pause => {
  const { now = () => performance.now(), sleep = wait, times = readTimes } = deps
  const { worked = () => performance.eventLoopUtilization().active } = deps
  const wasBusy = createWasBusy(times)
  let since = now()
  let lookedAt = since
  let isBusy = false
  let workedBefore = worked()
  let owed = 0
  let resting: Promise<void> | undefined
  return () => {
    // Several partitions are read side by side: where one of them rests, so do the others, or they would work on in its place.
    if (resting) return resting
    if (now() - since < longestStretch) return undefined
    if (now() - lookedAt >= lookEvery) {
      isBusy = wasBusy()
      lookedAt = now()
    }
    // All of the thread's work counts: to unpack what Kafka sends is a good part of reading a topic, and done between two pauses.
    const current = worked()
    owed = isBusy ? owed + sleepsFor * (current - workedBefore) : 0
    workedBefore = current
    const ms = Math.min(owed, longestSleep)
    owed -= ms
    resting = (ms > 0 ? sleep(ms) : nextRound()).then(() => {
      since = now()
      resting = undefined
    })
    return resting
  }
}

/** Does work, and gives way before it resolves to what the work does. */
export type GivesWay = <T>(work: () => Promise<T>) => Promise<T>

/**
 * For work that others do for this process, such as a statement in a database: where the machine is busy it is followed by a rest nineteen times as
 * long, which ends when the machine is busy no more, after two minutes at the latest. So nobody may wait for what such work holds when it is over.
 */
export const createRests = (deps: Partial<GivingWayDeps> & { signal?: AbortSignal | undefined } = {}): GivesWay => {
  const { now = () => performance.now(), sleep = wait, times = readTimes, signal } = deps
  const wasBusy = createWasBusy(times)
  return async (work) => {
    const from = now()
    wasBusy()
    const done = await work()
    const worked = now() - from
    if (worked < shortWork) return done
    const until = now() + Math.min(sleepsFor * worked, longestRest)
    // What the work itself took of the machine counts in the first look alone.
    while (wasBusy() && now() < until) {
      signal?.throwIfAborted()
      await sleep(Math.min(restsBetweenLooks, until - now()))
    }
    return done
  }
}

/** Where nobody needs the machine for anything else. */
export const withoutRest: GivesWay = (work) => work()

/** Whether others kept the machine busy since this was asked before. */
const createWasBusy = (times: () => ProcessorTimes): (() => boolean) => {
  let looked = times()
  return () => {
    const current = times()
    const [worked, idle, own] = [current.worked - looked.worked, current.idle - looked.idle, current.own - looked.own]
    const all = Math.max(1, worked + idle)
    looked = current
    return idle / all < busyBelow && (worked - own) / all > othersFrom
  }
}

const readTimes = (): ProcessorTimes => {
  const sums = { worked: 0, idle: 0 }
  for (const { times } of cpus()) {
    sums.idle += times.idle
    sums.worked += times.user + times.nice + times.sys + times.irq
  }
  const { user, system } = process.cpuUsage()
  return { ...sums, own: (user + system) / 1000 }
}
