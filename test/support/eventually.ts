import { setTimeout as wait } from 'node:timers/promises'

const firstPause = 10
const longestPause = 100

/**
 * Asks until the check no longer throws, soon at first and then ten times a second; throws the last failure when the time is up and
 * it has been asked as often as that time allows on an idle machine. On a busy one each question takes longer, and so does this.
 */
export const eventually = async <T>(check: () => Promise<T> | T, within = 30_000): Promise<T> => {
  const deadline = Date.now() + within
  let left = within / longestPause
  for (let pause = firstPause; ; pause = Math.min(pause * 2, longestPause)) {
    try {
      return await check()
    } catch (error) {
      left -= 1
      if (Date.now() > deadline && left < 0) throw error
      await wait(pause)
    }
  }
}
