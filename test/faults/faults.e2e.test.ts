import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isDeep, sized } from '../support/sized.js'
import { erasuresScenario } from './runs/erasures.js'
import { type FailPointName, failPointScenario, failPoints } from './runs/fail-points.js'
import { shortChaos } from './runs/faults.js'
import { lanesScenario } from './runs/lanes.js'
import { rebalanceScenario } from './runs/rebalance.js'
import { runScenario, type Scenario } from './runs/run.js'
import { createSession, type Session } from './runs/session.js'
import { type FaultStack, startStack } from './stack/start-stack.js'

// One seed each, on one system; `npm run faults` runs many.
const within = 600_000
const organisations = sized(1, 3)
// Processes take most of a minute to die and to come back. Clients that send thirty requests a second meanwhile made most of what
// this file computed, and in all of it only those count that are under way where a process dies.
const longestThought = sized(300, 60)

/** A system whose organisations have so many lanes; and a scenario on it, after which all must be well. */
const createWell = (lanes: number) => {
  let stack: FaultStack
  let session: Session
  const said: string[] = []
  beforeAll(async () => {
    stack = await startStack({ say: (line) => said.push(line), lanes, erases: isDeep })
    session = createSession(stack, (line) => said.push(line))
  })
  afterAll(() => stack?.stop())

  return async (scenario: Scenario) => {
    said.length = 0
    const { findings, records } = await runScenario(session, { ...scenario, longestThought }, 1, organisations)
    expect(findings, said.join('\n')).toEqual([])
    expect(records).toBeGreaterThan(0)
  }
}

// Rows of the crash table, as many at a time as there are processes to die; `npm run faults` has each by itself. The first have both
// edges, both integrity instances and the sink die in one run, between the steps where most could be lost, be there twice or be stale;
// what is around the others, a transaction that is undone and a batch that is told whole once more, is harder there too.
const rows: FailPointName[][] = [
  [
    'after-submit-sent',
    'after-submit-acked',
    'after-postgres-commit',
    'after-partial-publish',
    'after-clickhouse-insert',
  ],
  ['before-postgres-commit', 'after-publish'],
]

// One at a time: to all but the first only the integrity instance that relays comes, so both are to die there.
const waitingRows: FailPointName[] = [
  'after-waiting-marked',
  'before-resume-sent',
  'after-resume-sent',
  'before-waiting-published',
  'after-waiting-published',
]

it('has every fail point in one of its rows', () => {
  expect([...rows.flat(), ...waitingRows].sort()).toEqual(Object.keys(failPoints).sort())
})

// Each crash row with one lane and with several is for the deep tests: in several lanes everything happens that does in one.
describe.each(sized([4], [1, 4]))('with %i lanes', (lanes) => {
  const expectAllWell = createWell(lanes)

  it.each(
    rows
      .slice(0, sized(1, 2))
      .map((points, n): [string, FailPointName[], string] => [points.join(' and '), points, `row-${n}`]),
  )(
    'nothing is lost and nothing is there twice when processes die %s',
    (_, points, name) => expectAllWell(failPointScenario(points, name)),
    within,
  )

  // In several lanes: a relay sends to all of them. test/journeys/waiting.e2e.test.ts kills integrity while records wait, in every run.
  if (lanes > 1 && isDeep)
    it.each(waitingRows)(
      'what waited is accepted once when processes die %s',
      (point) => expectAllWell(failPointScenario([point])),
      within,
    )

  // Where the sleeper holds most: a decision that is made and not committed. `npm run faults` has the other places; the fence
  // that keeps the sleeper out is in test/services/ledger in every run.
  if (isDeep)
    it(
      'no verdict differs when an integrity instance falls asleep before-postgres-commit and wakes after others took over',
      () => expectAllWell(rebalanceScenario('before-postgres-commit')),
      within,
    )

  // An erasure waits for Kafka to compact, most of a minute: test/journeys/erasure.e2e.test.ts has one in every run.
  if (isDeep)
    it(
      'forgets who is erased and loses nobody else when processes die meanwhile',
      () => expectAllWell(erasuresScenario()),
      within,
    )

  // The last but one: from then on the system has other lanes.
  if (lanes > 1 && isDeep)
    it(
      'nothing is lost and nothing is there twice when the lanes are changed while processes die',
      () => expectAllWell(lanesScenario()),
      within,
    )

  // Here the services are killed in every run; the parts, in test/journeys/kills.e2e.test.ts.
  if (isDeep)
    it(
      'keeps every promise through kills, pauses, restarts and bad connections',
      () => expectAllWell(shortChaos),
      within,
    )
})
