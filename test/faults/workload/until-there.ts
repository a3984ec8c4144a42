import { setTimeout as wait } from 'node:timers/promises'

const firstPause = 50
const longestPause = 1_000

/** Tries again and again, after pauses that grow, until an attempt brings something. */
export const untilThere = async <T>(attempt: () => Promise<T | undefined>): Promise<T> => {
  for (let pause = firstPause; ; pause = Math.min(pause * 2, longestPause)) {
    const found = await attempt()
    if (found !== undefined) return found
    await wait(pause)
  }
}
