import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/**
 * A virtual machine is now faster, now slower, by half and more within a minute, as its host's other guests are busy or not. So the same
 * piece of work is done again and again beside each load, in a process of its own, with a hundredth of the machine: what it took says how
 * fast the machine was.
 */
export type Yardstick = {
  /** Begins to measure; the function that it returns says what a unit of the work has taken since then, in µs of CPU. */
  begin: () => Promise<() => Promise<number>>
  stop: () => void
}

type Done = { units: number; micros: number }

export const startYardstick = (): Yardstick => {
  const child = fork(fileURLToPath(new URL('./yardstick-work.ts', import.meta.url)))
  const ask = async (): Promise<Done> => {
    const answer = once(child, 'message')
    child.send('how much?')
    return (await answer)[0]
  }
  return {
    begin: async () => {
      const before = await ask()
      return async () => {
        const after = await ask()
        return (after.micros - before.micros) / Math.max(1, after.units - before.units)
      }
    },
    stop: () => {
      if (child.connected) child.disconnect()
    },
  }
}
