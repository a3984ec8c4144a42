import { expect, it } from 'vitest'
import { createBusiest, others } from '#platform/health/busiest.js'

const createClock = () => {
  let time = 0
  return { now: () => time, pass: (ms: number) => (time += ms) }
}

it('shows the first at once, and one that becomes busy from the next period on', () => {
  const { now, pass } = createClock()
  const nameOf = createBusiest({ places: 2, most: 5, periodMs: 10, now })
  expect([nameOf('a', 1), nameOf('b', 1), nameOf('busy', 100), nameOf('idle', 1)]).toEqual(['a', 'b', others, others])
  pass(10)
  expect([nameOf('busy', 1), nameOf('idle', 1), nameOf('a', 1)]).toEqual(['busy', others, 'a'])
})

it('shows no more than so many in its life, however many come and go', () => {
  const { now, pass } = createClock()
  const nameOf = createBusiest({ places: 3, most: 7, periodMs: 10, now })
  const names = new Set<string>()
  for (let n = 0; n < 10_000; n++) {
    names.add(nameOf(`org-${n % 50}`, n))
    pass(6)
  }
  expect(names.size).toBe(7 + 1)
})
