import { expect, it } from 'vitest'
import { createGivingWay, createRests } from '#persons/remove/giving-way.js'

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
    worked: () => own,
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

it('rests together with what is read side by side, which would work on in its place', async () => {
  let clock = 0
  let wake = (): void => {}
  const sleep = () =>
    new Promise<void>((resolve) => {
      wake = resolve
    })
  const times = () => ({ worked: 2 * clock, idle: 0, own: 0 })
  const pause = createGivingWay({ now: () => clock, worked: () => clock, times, sleep })
  clock = 300
  const first = pause()
  expect(first).toBeInstanceOf(Promise)
  expect(pause()).toBe(first)
  wake()
  await first
  expect(pause()).toBe(undefined)
})

/** Has a statement of some seconds done on a machine of two processors, which others use in full until a moment; resolves to how long it rested. */
const restedAfter = async (seconds: number, { othersUntil }: { othersUntil: number }): Promise<number> => {
  let [clock, worked] = [0, 0]
  const pass = (ms: number, used: number): void => {
    clock += ms
    worked += ms * used
  }
  const givesWay = createRests({
    now: () => clock,
    sleep: async (ms: number) => pass(ms, clock < othersUntil * 1000 ? 2 : 0.1),
    times: () => ({ worked, idle: clock * 2 - worked, own: 0 }),
  })
  await givesWay(async () => pass(seconds * 1000, 2))
  return clock / 1000 - seconds
}

it('rests nineteen times as long as a database has worked for it, while others want the machine and for two minutes at most', async () => {
  expect(await restedAfter(2, { othersUntil: 1000 })).toBe(38)
  expect(await restedAfter(60, { othersUntil: 1000 })).toBe(120)
  expect(await restedAfter(0.2, { othersUntil: 1000 })).toBe(0)
})

it('does not rest where it was the only one that used the machine, and no longer than others do', async () => {
  expect(await restedAfter(2, { othersUntil: 0 })).toBeLessThan(1)
  expect(await restedAfter(2, { othersUntil: 10 })).toBeLessThan(9.6)
})

it('ends a rest when the service stops, and hands on what failed without one', async () => {
  const stopping = new AbortController()
  let clock = 0
  const givesWay = createRests({
    now: () => clock,
    sleep: async () => stopping.abort(),
    times: () => ({ worked: clock++, idle: 0, own: 0 }),
    signal: stopping.signal,
  })
  const work = async () => {
    clock += 1000
  }
  await expect(givesWay(work)).rejects.toThrow('aborted')
  await expect(givesWay(() => Promise.reject(new Error('no such table')))).rejects.toThrow('no such table')
})
