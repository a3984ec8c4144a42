import { setTimeout as wait } from 'node:timers/promises'
import type { Random } from '../random.js'
import { createClient } from './client.js'
import { createLedger, type Ledger } from './ledger.js'
import { planClient } from './plan.js'

export type Organisation = { org: string; apiKey: string }
export type Workload = {
  ledger: Ledger
  /** How many steps were answered so far, by the client that has the fewest. */
  steps: () => number
  /** No new steps; resolves when every client has the answer to its last one. */
  stop: () => Promise<void>
}

const clientsOfEach = 2
const longestThought = 60

/** Several organisations with two clients each, all at once, each going its own seeded way. */
export const startWorkload = (deps: {
  organisations: readonly Organisation[]
  edgeUrls: readonly string[]
  lanes: number
  random: Random
}): Workload => {
  const ledger = createLedger(deps.organisations.map(({ org }) => org))
  const counts: number[] = []
  let isStopped = false

  const live = async ({ org, apiKey }: Organisation, n: number): Promise<void> => {
    const random = deps.random.fork(`${org}-${n}`)
    const client = createClient({ ...deps, org, apiKey, random: random.fork('choices'), ledger })
    const place = counts.push(0) - 1
    for (const step of planClient(`${org}-${n}`, random.fork('plan'))) {
      await client.take(step)
      counts[place] = (counts[place] ?? 0) + 1
      if (isStopped && !step.owes) return
      await wait(random.int(0, longestThought))
    }
  }
  const lives = deps.organisations.flatMap((organisation) =>
    Array.from({ length: clientsOfEach }, (_, n) => live(organisation, n)),
  )
  return {
    ledger,
    steps: () => Math.min(...counts),
    stop: async () => {
      isStopped = true
      await Promise.all(lives)
    },
  }
}
