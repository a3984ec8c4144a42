import { eventually } from '../../support/eventually.js'
import { type FailPointName, timesReached } from './fail-points.js'
import { type Scenario, untilSteps } from './run.js'
import type { Session } from './session.js'

const group = 'weir-integrity'
const within = 60_000

/**
 * One of two integrity instances leaves and comes back; then the other falls asleep in the middle of its work, its
 * partitions go to the first, and it wakes with what it had in hand. No verdict may ever differ.
 */
export const rebalanceScenario = (point?: FailPointName): Scenario => {
  const chosen = { point: point ?? asleepAt[0], reached: 0 }
  return {
    name: 'rebalance',
    prepare: async ({ session: { stack, say }, random }) => {
      chosen.point = point ?? random.pick(asleepAt)
      chosen.reached = timesReached(stack, 'integrity-1', chosen.point)
      const pass = random.int(1, 6)
      say(`integrity-1 falls asleep ${chosen.point}, when it comes there for the ${pass}. time`)
      await stack.startAnew('integrity-1', {
        WEIR_FAILPOINT: chosen.point,
        WEIR_FAILPOINT_PASS: String(pass),
        WEIR_FAILPOINT_SIGNAL: 'SIGSTOP',
      })
    },
    disturb: async ({ session, workload }) => {
      const { stack, say } = session
      await eventually(() => {
        if (timesReached(stack, 'integrity-1', chosen.point) === chosen.reached) throw new Error('integrity-1 is awake')
      }, within)
      say('integrity-1 sleeps')
      await untilMembers(session, 1)
      say('its partitions are gone')
      // The other one goes on with them while it sleeps.
      await untilSteps(workload, workload.steps() + 3)
      stack.signals.send('integrity-1', 'SIGCONT')
      say('integrity-1 wakes')
      await untilMembers(session, 2)

      stack.signals.send('integrity-2', 'SIGTERM')
      await untilSteps(workload, workload.steps() + 3)
      await untilMembers(session, 2)
      return { findings: [], mayOutliveSession: true }
    },
  }
}

const asleepAt = [
  'before-postgres-commit',
  'after-postgres-commit',
  'after-partial-publish',
  'after-publish',
] as const satisfies readonly FailPointName[]

const untilMembers = ({ members }: Session, wanted: number): Promise<void> =>
  eventually(async () => {
    const count = await members(group)
    if (count !== wanted) throw new Error(`${group} has ${count} members`)
  }, within)
