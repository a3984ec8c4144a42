import { setTimeout as wait } from 'node:timers/promises'

// A step takes about 10 ms, and nobody waits longer behind it.
const rowsPerStep = 1000
const pauseBetween = 100

/** Repeats a step that does so many at the most, with a breath in between, until one finds less to do. Tells how many in all. */
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
