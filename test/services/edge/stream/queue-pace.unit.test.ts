import { expect, it } from 'vitest'
import { createQueuePace } from '../../../../services/edge/stream/queue-pace.js'

const create = () => {
  const clock = { ms: 0 }
  return { clock, pace: createQueuePace(() => clock.ms) }
}

it('expects nothing where nothing is in front, or nothing was decided yet', () => {
  const { clock, pace } = create()
  expect(pace.expectedWait()).toBe(0)
  pace.join(500)
  clock.ms = 3_000
  expect(pace.expectedWait()).toBe(0)
})

it('expects what is in front to take as long as the same number took before', () => {
  const { clock, pace } = create()
  pace.join(1_000)
  clock.ms = 2_000
  pace.leave(1_000, true)
  expect(pace.expectedWait()).toBe(0)
  pace.join(3_000)
  expect(pace.expectedWait()).toBe(6_000)
})

it('does not count the time in which there was nothing to decide, nor what never was', () => {
  const { clock, pace } = create()
  pace.join(1_000)
  pace.join(1_000)
  clock.ms = 2_000
  pace.leave(1_000, true)
  pace.leave(1_000, false)
  clock.ms = 3_600_000
  pace.join(1_000)
  expect(pace.expectedWait()).toBe(2_000)
})

it('forgets how it was: after a minute at another pace it expects that one', () => {
  const { clock, pace } = create()
  pace.join(10_000)
  for (let second = 1; second <= 10; second++) {
    clock.ms = second * 1_000
    pace.leave(1_000, true)
  }
  pace.join(10_000)
  for (let second = 11; second <= 70; second++) {
    clock.ms = second * 1_000
    pace.leave(100, true)
  }
  // 4000 are left, and a hundred a second are decided now.
  expect(pace.expectedWait()).toBeGreaterThan(30_000)
  expect(pace.expectedWait()).toBeLessThan(45_000)
})
