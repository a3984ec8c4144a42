import { pino } from 'pino'
import { expect, it } from 'vitest'
import { inSteps, periodically } from '#platform/process/periodically.js'
import { eventually } from '../../../support/eventually.js'

const log = pino({ level: 'silent' })

it('goes on after a turn that failed, never does two at once, and waits for the last one when it is stopped', async () => {
  let turns = 0
  let running = 0
  let most = 0
  const { stop } = periodically({
    name: 'test',
    everyMs: 1,
    log,
    work: async () => {
      turns++
      most = Math.max(most, ++running)
      await new Promise((resolve) => setImmediate(resolve))
      running--
      if (turns === 1) throw new Error('not now')
    },
  })
  await eventually(() => expect(turns).toBeGreaterThan(3))
  await stop()
  expect([most, running]).toEqual([1, 0])
})

it('tells the work that it is to stop', async () => {
  let seen: AbortSignal | undefined
  const { stop } = periodically({
    name: 'test',
    everyMs: 1,
    log,
    work: (signal) => {
      seen = signal
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    },
  })
  await eventually(() => expect(seen).toBeDefined())
  await stop()
  expect(seen?.aborted).toBe(true)
})

const stepsOver = (rows: number) => async (most: number) => {
  const count = Math.min(rows, most)
  rows -= count
  return count
}

it.each([
  [0, []],
  [7, [7]],
  [10, [10]],
  [23, [10, 10, 3]],
])('of %i rows, 10 at the most at once, takes %j', async (rows, expected) => {
  const steps: number[] = []
  const total = await inSteps(stepsOver(rows), { most: 10, pauseMs: 0, onStep: (count) => steps.push(count) })
  expect(steps).toEqual(expected)
  expect(total).toBe(rows)
})

it('ends between two steps when it is told to', async () => {
  const stopping = new AbortController()
  const steps: number[] = []
  const onStep = (count: number) => {
    steps.push(count)
    stopping.abort()
  }
  const work = inSteps(stepsOver(100), { most: 10, pauseMs: 10_000, signal: stopping.signal, onStep })
  await expect(work).rejects.toThrow('aborted')
  expect(steps).toEqual([10])
})
