import { expect, it } from 'vitest'
import { latenciesOf } from '../measure/figures.js'
import { atOneSpeed } from '../results.js'
import { sampleMeasured, sampleResults } from '../sample-results.js'
import { count, goalsOf } from './goals.js'

const verdictOn = (goal: string, results = sampleResults()) => goalsOf(results).find((each) => each.goal === goal)

it('compares with the mean of the cheaper naive runs with the same requests', () => {
  // (4.08 + 8.18 + 3.06) / 16
  expect(verdictOn('whole path, 5000 shops')).toEqual({
    goal: 'whole path, 5000 shops',
    wanted: '≤ 1 × naive',
    found: '0.96',
    verdict: 'met',
  })
  const dear = sampleResults({ workloads: [sampleMeasured({}, { edge: 10, integrity: 20, sink: 8 })] })
  expect(verdictOn('whole path, 5000 shops', dear)).toMatchObject({ found: '2.38', verdict: 'not met' })
  expect(verdictOn('sink, 5000 shops', dear)).toMatchObject({ found: '0.5', verdict: 'not met' })
  const { floors } = sampleResults()
  const small = sampleMeasured({ name: 'naive JSON: 100 shops', recordsPerRequest: 100 }, { floors: 20 })
  const withSmall = sampleResults({ floors: { ...floors, naive: [...floors.naive, small] } })
  expect(verdictOn('whole path, 100 shops')).toMatchObject({ verdict: 'not measured' })
  // (4 + 4 + 8 + 9 + 3 + 3) / 20
  expect(verdictOn('whole path, 100 shops', withSmall)).toMatchObject({ found: '1.55', verdict: 'not met' })
})

it('holds what is stored a second against the naive answers of a machine that was as fast', () => {
  const wide = sampleMeasured({ name: '5000 shops, 4 orgs', storedPerSecond: 31_000, yardstickMicros: 2000 })
  expect(verdictOn('stored, 4 organisations', sampleResults({ workloads: [wide] }))).toMatchObject({
    found: '1',
    verdict: 'met',
  })
})

it('holds a small request beside a flood against the same alone', () => {
  const [alone, beside] = [latenciesOf([10, 10, 10]), latenciesOf([60, 60, 60])]
  const found = verdictOn('beside a flood, p50', sampleResults({ neighbour: { alone, beside } }))
  expect(found).toMatchObject({ found: '6', verdict: 'not met' })
})

it('shows CPU as it would have been at one speed of the machine', () => {
  const loads = [900, 1000, 1200].map((yardstickMicros) => sampleMeasured({ yardstickMicros }, { edge: 12 }))
  const edges = loads.map((load) => atOneSpeed(loads, load).processes.edge?.cpuMicros)
  expect(edges).toEqual([13.33, 12, 10])
})

it('says what was not measured, instead of calling it met', () => {
  expect(verdictOn('second start')).toMatchObject({ found: '–', verdict: 'not measured' })
  expect(verdictOn('of 1000 organisations')).toMatchObject({ verdict: 'not measured' })
  expect(verdictOn('second start', sampleResults({ start: { seconds: 7.2 } }))).toMatchObject({ verdict: 'met' })
})

it('holds waiting against the same records in order, at full speed and at the same rate', () => {
  const inOrder = sampleMeasured({ name: '50 shops, 500 transactions' }, { edge: 20, integrity: 20, sink: 10 })
  const waiting = sampleMeasured({ name: '500 transactions, 50 wait' }, { edge: 21, integrity: 34, sink: 10 })
  const goals = ['a tenth waits, full speed', 'a tenth waits, same rate']
  for (const goal of goals) expect(verdictOn(goal)).toMatchObject({ verdict: 'not measured' })
  const atFullSpeed = sampleResults({ workloads: [inOrder, waiting] })
  expect(goals.map((goal) => verdictOn(goal, atFullSpeed)?.verdict)).toEqual(['not met', 'not measured'])
  const atOneRate = verdictOn('a tenth waits, same rate', sampleResults({ paced: { inOrder, waiting } }))
  expect(atOneRate).toMatchObject({ found: '1.3', verdict: 'not met' })
})

it('holds growth against the start of the same run', () => {
  const growth = {
    entities: { few: 10_000, many: 10_000_000 },
    withFew: sampleMeasured({ storedPerSecond: 60_000 }),
    withMany: sampleMeasured({ storedPerSecond: 45_000 }),
    organisations: { few: 10, many: 1000 },
    ofFew: sampleMeasured({ storedPerSecond: 50_000 }),
    ofMany: sampleMeasured({ storedPerSecond: 49_000 }),
    memory: { edge: { tenth: 200, all: 210, peak: 220 }, integrity: { tenth: 200, all: 420, peak: 450 } },
  }
  const results = sampleResults({ growth })
  expect(verdictOn('with 10 000 000 shops', results)).toMatchObject({ found: '0.75', verdict: 'not met' })
  expect(verdictOn('of 1000 organisations', results)).toMatchObject({ found: '0.98', verdict: 'met' })
  const small = sampleResults({ growth: { ...growth, entities: { few: 1000, many: 30_000 } } })
  expect(verdictOn('with 10 000 000 shops', small)).toMatchObject({ verdict: 'not measured' })
  const memory = goalsOf(results).filter(({ goal }) => goal.includes('memory, filled up'))
  expect(memory.map(({ verdict }) => verdict)).toEqual([
    'met',
    'met',
    'not met',
    'not met',
    'not measured',
    'not measured',
  ])
})

it('writes counts so that they can be read', () => {
  expect([7, 999, 1000, 60_000, 1_234_567.8].map(count)).toEqual(['7', '999', '1 000', '60 000', '1 234 568'])
})
