import { setTimeout as wait } from 'node:timers/promises'

const firstPause = 10
const longestPause = 100

/** Asks until the check no longer throws, soon at first and then ten times a second; throws the last failure when the time is up. */
export const eventually = async <T>(check: () => Promise<T> | T, within = 30_000): Promise<T> => {
  const deadline = Date.now() + within
  for (let pause = firstPause; ; pause = Math.min(pause * 2, longestPause)) {
    try {
      return await check()
    } catch (error) {
      if (Date.now() > deadline) throw error
      await wait(pause)
    }
  }
}
