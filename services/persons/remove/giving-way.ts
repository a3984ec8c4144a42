import { cpus } from 'node:os'
import { setImmediate as nextRound, setTimeout as wait } from 'node:timers/promises'
import type { Pause } from '#platform/process/pauses.js'

const longestStretch = 5
const lookEvery = 250
// Shares of all processors. With one that is alone on its machine, all of it is this process's own.
const busyBelow = 0.2
const othersFrom = 0.25
const sleepsFor = 9
// More of a stretch was spent waiting.
const mostWorked = 2 * longestStretch

/** Milliseconds that all processors together have worked since some moment, and that were idle; `own`: those of this process. */
type ProcessorTimes = { worked: number; idle: number; own: number }

type GivingWayDeps = { now: () => number; sleep: (ms: number) => Promise<unknown>; times: () => ProcessorTimes }

/**
 * Pauses for long work that nobody waits for: each lets everything else of the process have its turn, and while less than a fifth of the
 * machine is idle it sleeps nine times as long as it has worked, so that others have the machine. A low priority would not do: where each
 * service has a session of its own, Linux shares the processors between the sessions first.
 */
export const createGivingWay = (deps: Partial<GivingWayDeps> = {}): Pause => {
  const { now = () => performance.now(), sleep = wait, times = readTimes } = deps
  let since = now()
  let looked = { at: since, ...times() }
  let isBusy = false
  const look = (): void => {
    const at = now()
    if (at - looked.at < lookEvery) return
    const current = times()
    const [worked, idle, own] = [current.worked - looked.worked, current.idle - looked.idle, current.own - looked.own]
    const all = Math.max(1, worked + idle)
    isBusy = idle / all < busyBelow && (worked - own) / all > othersFrom
    looked = { at, ...current }
  }
  return () => {
    const stretch = now() - since
    if (stretch < longestStretch) return undefined
    look()
    const rest = isBusy ? sleep(sleepsFor * Math.min(stretch, mostWorked)) : nextRound()
    return rest.then(() => {
      since = now()
    })
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
