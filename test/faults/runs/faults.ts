import { applyFaults } from '../faults/apply.js'
import { type Fault, mayOutliveSession, planChaos, planKills } from '../faults/plan.js'
import type { Random } from '../random.js'
import type { Scenario } from './run.js'

const faultScenario = (name: string, plan: (random: Random) => Fault[]): Scenario => ({
  name,
  disturb: async ({ session: { stack, say }, random }) => {
    const faults = plan(random)
    await applyFaults(stack, faults, say)
    return { findings: [], mayOutliveSession: faults.some(mayOutliveSession) }
  },
})

/** SIGKILL for everything. */
export const kills = faultScenario('kills', planKills)
/** Kills, pauses, restarts, cut, slow and frozen connections. */
export const chaos = faultScenario('chaos', planChaos)
/** The same, a few only: for a test that people wait for. */
export const shortChaos = faultScenario('short-chaos', (random) => planChaos(random, 5))
