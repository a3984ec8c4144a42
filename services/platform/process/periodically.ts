import { setTimeout as wait } from 'node:timers/promises'
import type { Log } from '../health/log.js'

const longestFirstWait = 5 * 60_000

/** Does work again and again in the background. A turn that fails is logged and left; the next one tries again. */
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
    // Not at the start, when a service is busiest, but soon enough for one that is restarted every day.
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

// A step of 1000 rows takes about 10 ms, and no other work waits longer behind its locks.
const rowsPerStep = 1000
const pauseBetween = 100

/** Repeats a step, which does `most` rows or fewer, until one finds fewer to do. Resolves to the sum. */
export const inSteps = async (
  step: (most: number) => Promise<number>,
  options: { most?: number; pauseMs?: number; signal?: AbortSignal | undefined; onStep?: (count: number) => void } = {},
): Promise<number> => {
  const { most = rowsPerStep, pauseMs = pauseBetween, signal, onStep } = options
  for (let total = 0; ; await wait(pauseMs, undefined, { signal })) {
    const count = await step(most)
    total += count
    if (count > 0) onStep?.(count)
    if (count < most) return total
  }
}

/** Whether the time passed without a stop. */
const waited = (ms: number, signal: AbortSignal): Promise<boolean> =>
  wait(ms, undefined, { signal }).then(
    () => true,
    () => false,
  )
