import { expect, it } from 'vitest'
import { createGivingWay } from '#persons/remove/giving-way.js'

/** Works for ten seconds in rounds of a millisecond on a machine of two processors; resolves to how much of that time it slept. */
const sleptOn = async ({ othersUse, processors = 2 }: { othersUse: number; processors?: number }): Promise<number> => {
  let [clock, slept, worked, own] = [0, 0, 0, 0]
  const pass = (ms: number, isMine: boolean): void => {
    // A round of work that shares a processor takes longer.
    const mine = isMine ? Math.min(1, Math.max(0.3, processors - othersUse)) : 0
    clock += ms
    own += ms * mine
    worked += ms * Math.min(processors, othersUse + mine)
  }
  const pause = createGivingWay({
    now: () => clock,
    sleep: async (ms: number) => {
      slept += ms
      pass(ms, false)
    },
    times: () => ({ worked, idle: clock * processors - worked, own }),
  })
  while (clock < 10_000) {
    pass(1, true)
    await pause()
  }
  return slept / clock
}

it('works on where a processor is free, or where nobody else wants one', async () => {
  expect(await sleptOn({ othersUse: 0 })).toBe(0)
  expect(await sleptOn({ othersUse: 0.5 })).toBe(0)
  expect(await sleptOn({ othersUse: 0, processors: 1 })).toBe(0)
})

it('sleeps most of the time where others want all processors', async () => {
  expect(await sleptOn({ othersUse: 2 })).toBeGreaterThan(0.7)
  expect(await sleptOn({ othersUse: 1, processors: 1 })).toBeGreaterThan(0.7)
})
