import { setTimeout as wait } from 'node:timers/promises'
import type { Log } from '../health/log.js'

const longestFirstWait = 5 * 60_000

/** Does work now and then beside everything else. A turn that fails is told and left; the next one tries again. */
export const periodically = (options: {
  name: string
  everyMs: number
  work: (signal: AbortSignal) => Promise<void>
  log: Log
}): { stop: () => Promise<void> } => {
  const { name, everyMs, work, log } = options
  const stopping = new AbortController()
  const { signal } = stopping

  const turns = async (): Promise<void> => {
    // Not at the start, when there is more to do than ever; and soon enough for one that is started anew every day.
    for (let pause = Math.min(everyMs, longestFirstWait); await waited(pause, signal); pause = everyMs) {
      try {
        await work(signal)
      } catch (error) {
        if (!signal.aborted) log.warn({ err: error, name }, 'could not be done now, is tried again at the next turn')
      }
    }
  }
  const done = turns()
  return {
    stop: () => {
      stopping.abort()
      return done
    },
  }
}

/** Whether the time passed without a stop. */
const waited = (ms: number, signal: AbortSignal): Promise<boolean> =>
  wait(ms, undefined, { signal }).then(
    () => true,
    () => false,
  )
