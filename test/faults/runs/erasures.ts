import { setTimeout as wait } from 'node:timers/promises'
import { eventually } from '../../support/eventually.js'
import { parts, services } from '../stack/definitions.js'
import { planClient } from '../workload/plan.js'
import { planPersons } from '../workload/plan-persons.js'
import type { Scenario } from './run.js'

const askedWithin = 120_000
// Longer than an erasure takes, so that some run through and some do not.
const longestPause = 20_000
const mayBeDown = 3

/** Customers are erased while clients go on sending them among others; who erases them is killed at any moment, and now and then something else. */
export const erasuresScenario = (kills?: number): Scenario => ({
  name: 'erasures',
  plans: [planClient, planPersons],
  erases: true,
  disturb: async ({ session: { stack, say }, random, workload: { ledger } }) => {
    await eventually(() => {
      if (ledger.erasures.length < ledger.orgs.length) throw new Error('nobody is erased yet')
    }, askedWithin)
    for (let n = kills ?? random.int(3, 6); n > 0; n--) {
      await wait(random.int(200, longestPause))
      await stack.untilMostReady(mayBeDown)
      const target = random.chance(0.6) ? 'delivery' : random.pick([...services, ...parts])
      say(`${target} is killed: ${stack.signals.send(target, 'SIGKILL')}`)
    }
    return { findings: [], mayOutliveSession: false }
  },
})
