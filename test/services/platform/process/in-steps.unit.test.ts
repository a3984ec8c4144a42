import { expect, it } from 'vitest'
import { inSteps } from '#platform/process/periodically.js'

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
