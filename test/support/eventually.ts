import { setTimeout as wait } from 'node:timers/promises'

/** Asks until the check no longer throws; the last failure is told when the time is up. */
export const eventually = async <T>(check: () => Promise<T> | T, within = 30_000): Promise<T> => {
  const deadline = Date.now() + within
  for (;;) {
    try {
      return await check()
    } catch (error) {
      if (Date.now() > deadline) throw error
      await wait(100)
    }
  }
}
