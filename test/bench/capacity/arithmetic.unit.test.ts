import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readDocument } from '../report/documents.js'
import { cpuOf, findWorkload, type Results } from '../results.js'
import { sampleResults } from '../sample-results.js'
import {
  assumptions,
  type Cost,
  ceilingsOf,
  costOf,
  costsOf,
  firstToSaturate,
  fitCost,
  needOf,
  onOneMachine,
} from './arithmetic.js'

const costs = costsOf(sampleResults(), 'shops')
const bytes = { kafka: 300, clickhouse: 100 }

describe('the cost of a record', () => {
  it('goes through the two points that it was made from', () => {
    const positive = fc.double({ min: 0.01, max: 1000, noNaN: true })
    fc.assert(
      fc.property(positive, positive, (perRecord, perRequest) => {
        const at = (recordsPerRequest: number) => ({
          recordsPerRequest,
          micros: costOf({ perRecord, perRequest }, recordsPerRequest),
        })
        const fitted = fitCost(at(5000), at(20))
        expect(fitted.perRecord).toBeCloseTo(perRecord, 5)
        expect(fitted.perRequest).toBeCloseTo(perRequest, 3)
      }),
    )
  })
})

describe('what a load needs', () => {
  it('is what the measured CPU says, with room to spare', () => {
    const need = needOf(100_000, 5000, costs, bytes)
    // 100 000 × 8.18 µs keep 0.818 of a core busy; 0.6 of a core is what one process is planned for.
    expect(need).toMatchObject({ integrities: 2, sinks: 1, brokers: 3, postgresCores: 1, clickhouseNodes: 1 })
    expect(need.partitions).toBe(4)
    expect(need.kafkaBytes).toBe(100_000 * 300 * 3)
  })

  it('never shrinks when there is more to do', () => {
    const rates = fc.integer({ min: 1, max: 2_000_000 })
    fc.assert(
      fc.property(rates, rates, fc.constantFrom(5000, 500, 100, 20), (a, b, size) => {
        const [less, more] = [Math.min(a, b), Math.max(a, b)].map((rate) => needOf(rate, size, costs, bytes))
        for (const name of [
          'edges',
          'integrities',
          'sinks',
          'partitions',
          'lanes',
          'brokers',
          'postgresCores',
        ] as const)
          expect(less?.[name]).toBeLessThanOrEqual(more?.[name] ?? 0)
      }),
    )
  })

  it('gives every instance and every lane less than its share of a core', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1000, max: 1_000_000 }), (rate) => {
        const { integrities, lanes } = needOf(rate, 500, costs, bytes)
        const busy = (rate * costOf(costs.integrity, 500)) / 1e6
        expect(busy / integrities).toBeLessThanOrEqual(assumptions.busyShare + 1e-9)
        expect((busy * assumptions.largestOrganisation) / lanes).toBeLessThanOrEqual(assumptions.busyShare + 1e-9)
      }),
    )
  })

  it('says what more instances do not help against', () => {
    const heavy: Record<keyof typeof costs, Cost> = { ...costs, postgres: { perRecord: 50, perRequest: 0 } }
    expect(needOf(1_000_000, 5000, heavy, bytes).limit).toMatch(/^Postgres: /)
    expect(needOf(2_000_000, 20, costs, bytes)).toMatchObject({
      limit: expect.stringMatching(/^verdicts: /),
      edges: Number.POSITIVE_INFINITY,
    })
    expect(needOf(10_000, 5000, costs, bytes)).not.toHaveProperty('limit')
  })

  it('is never full at the load that it was planned for, and by its fullest part soon after', () => {
    fc.assert(
      fc.property(fc.integer({ min: 5000, max: 1_000_000 }), fc.constantFrom(5000, 500, 100), (rate, size) => {
        const { recordsPerSecond } = firstToSaturate(needOf(rate, size, costs, bytes), size, costs)
        expect(recordsPerSecond).toBeGreaterThan(rate)
      }),
    )
    const first = firstToSaturate(needOf(10_000, 5000, costs, bytes), 5000, costs)
    // One integrity at 8.18 µs a record.
    expect(first).toEqual({ what: 'integrity', recordsPerSecond: expect.closeTo(1e6 / 8.18, 0) })
  })

  it('orders what saturates by when it does', () => {
    const ceilings = ceilingsOf(5000, costs).map(({ recordsPerSecond }) => recordsPerSecond)
    expect(ceilings).toEqual([...ceilings].sort((a, b) => a - b))
  })
})

// The run in docs/ is the measured one: points that the arithmetic was not made from have to lie near what it says.
describe('the run in docs/performance.json', () => {
  const results = JSON.parse(readDocument('docs/performance.json')) as Results
  // Two runs on a busy machine were off by 1.4 at the most.
  const farOff = 1.5
  const points = ['shops', 'transactions'].flatMap((type) => [500, 100].map((size) => ({ type, size })))

  it.each(points)('cost $size $type a request about what the arithmetic says', ({ type, size }) => {
    const measured = findWorkload(results, type, size)
    if (!measured) throw new Error('the run lacks this load')
    const processes = ['edge', 'integrity', 'sink'] as const
    const said = processes.reduce((sum, name) => sum + costOf(costsOf(results, type)[name], size), 0)
    const ratio = cpuOf(measured, ...processes) / said
    expect(ratio).toBeGreaterThan(1 / farOff)
    expect(ratio).toBeLessThan(farOff)
  })

  // Uploaders wait for their answers, so the machine is not busy all the time: what is planned for it has to be possible all the same.
  it.each(points)('stored $size $type a request as fast as is planned, and no faster than can be', ({ type, size }) => {
    const measured = findWorkload(results, type, size)
    if (!measured) throw new Error('the run lacks this load')
    const cores = results.machine.cores - measured.othersCores
    const said = onOneMachine(cores, size, costsOf(results, type), cpuOf(measured, 'generator'))
    expect(measured.storedPerSecond).toBeGreaterThan(said * assumptions.busyShare)
    expect(measured.storedPerSecond).toBeLessThan(said * farOff)
  })
})
