import fc from 'fast-check'
import { expect, it } from 'vitest'
import { latenciesOf, percentile } from './figures.js'
import { parseMachine, readProcesses } from './processes.js'

it('finds the value that the given share of all values is not above', () => {
  const hundred = Array.from({ length: 100 }, (_, i) => i + 1)
  expect([0, 0.5, 0.95, 0.99, 1].map((share) => percentile(hundred, share))).toEqual([1, 51, 96, 100, 100])
  expect(percentile([], 0.5)).toBeNaN()
})

it('orders p50, p95, p99 and the longest, whatever the order of the values', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { minLength: 1 }), (values) => {
      const { p50, p95, p99, longest } = latenciesOf(values)
      expect([p50, p95, p99, longest]).toEqual([p50, p95, p99, longest].sort((a, b) => a - b))
      expect(longest).toBeCloseTo(Math.max(...values), 1)
      expect(values.filter((value) => value <= p50 + 0.01).length).toBeGreaterThanOrEqual(values.length / 2)
    }),
  )
  expect(latenciesOf([])).toEqual({ p50: 0, p95: 0, p99: 0, longest: 0 })
})

it('counts what keeps a machine busy, and neither idling nor waiting for disks', () => {
  // user nice system idle iowait irq softirq steal guest guest_nice
  expect(parseMachine('cpu  100 20 30 5000 600 1 2 7 0 0\ncpu0 1 2 3\n')).toBe(1.6)
})

it('reads CPU and memory of a process that runs', () => {
  const { cpuSeconds = 0, megabytes = 0 } = readProcesses(new Map([['this', process.pid]])).get('this') ?? {}
  expect(cpuSeconds).toBeGreaterThan(0)
  expect(megabytes).toBeGreaterThan(20)
})
