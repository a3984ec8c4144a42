import { afterAll, beforeAll, expect, it } from 'vitest'
import { type FailPointName, failPointScenario, failPoints } from './runs/fail-points.js'
import { shortChaos } from './runs/faults.js'
import { rebalanceScenario } from './runs/rebalance.js'
import { runScenario, type Scenario } from './runs/run.js'
import { createSession, type Session } from './runs/session.js'
import { type FaultStack, startStack } from './stack/start-stack.js'

// A few seeds, on one system; `npm run faults` runs many.
const within = 240_000

let stack: FaultStack
let session: Session
const said: string[] = []

beforeAll(async () => {
  stack = await startStack({ say: (line) => said.push(line) })
  session = createSession(stack, (line) => said.push(line))
})
afterAll(() => stack?.stop())

const expectAllWell = async (scenario: Scenario, seed = 1) => {
  said.length = 0
  const { findings, records } = await runScenario(session, scenario, seed)
  expect(findings, said.join('\n')).toEqual([])
  expect(records).toBeGreaterThan(0)
}

// Together where they are of different services: each row once, in half the time.
const rows: FailPointName[][] = [
  ['after-submit-sent', 'before-postgres-commit'],
  ['after-submit-acked', 'after-postgres-commit'],
  ['after-partial-publish', 'after-clickhouse-insert'],
  ['after-publish'],
]

it('has every fail point in one of its rows', () => {
  expect(rows.flat().sort()).toEqual(Object.keys(failPoints).sort())
})

it.each(rows.map((points, n): [string, FailPointName[], string] => [points.join(' and '), points, `row-${n}`]))(
  'nothing is lost and nothing is there twice when processes die %s',
  (_, points, name) => expectAllWell(failPointScenario(points, name)),
  within,
)

// A seed for each: on one system, a seed's organisations are there once.
it.each([
  ['before-postgres-commit', 1],
  ['after-postgres-commit', 2],
] as const)(
  'no verdict differs when an integrity instance falls asleep %s and wakes after others took over',
  (point, seed) => expectAllWell(rebalanceScenario(point), seed),
  within,
)

it('keeps every promise through kills, pauses, restarts and bad connections', () => expectAllWell(shortChaos), within)
