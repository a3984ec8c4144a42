import { setTimeout as wait } from 'node:timers/promises'
import type { Random } from '../random.js'
import { createClient } from './client.js'
import { createLedger, type Ledger } from './ledger.js'
import { type Plan, planClient } from './plan.js'

export type Organisation = { org: string; apiKey: string }
export type Workload = {
  ledger: Ledger
  /** How many steps were answered so far, by the client that has the fewest. */
  steps: () => number
  /** When each upload and import was answered, with a verdict on all of it. */
  answeredAt: readonly number[]
  /** No new steps; resolves when every client has the answer to its last one. */
  stop: () => Promise<void>
  /** Behind that, once all erasures are done: who was erased and may come back does so. */
  comeBack: () => Promise<void>
}

const usualPlans: readonly Plan[] = [planClient, planClient]
/** Milliseconds that a client thinks at most before its next step. */
const usualThought = 60

/** Several organisations with a client for each plan, all at once, each going its own seeded way. */
export const startWorkload = (deps: {
  organisations: readonly Organisation[]
  edgeUrls: readonly string[]
  lanes: readonly number[]
  random: Random
  plans?: readonly Plan[]
  longestThought?: number
}): Workload => {
  const { longestThought = usualThought } = deps
  const ledger = createLedger(deps.organisations.map(({ org }) => org))
  const counts: number[] = []
  const clients: ReturnType<typeof createClient>[] = []
  const answeredAt: number[] = []
  let isStopped = false

  const live = async ({ org, apiKey }: Organisation, plan: Plan, n: number): Promise<void> => {
    const random = deps.random.fork(`${org}-${n}`)
    const client = createClient({ ...deps, org, apiKey, random: random.fork('choices'), ledger })
    clients.push(client)
    const place = counts.push(0) - 1
    for (const step of plan(`${org}-${n}`, random.fork('plan'), deps.lanes.at(-1) ?? 1)) {
      await client.take(step)
      if (step.kind === 'upload' || step.kind === 'import') answeredAt.push(Date.now())
      counts[place] = (counts[place] ?? 0) + 1
      if (isStopped && !step.owes) return
      await wait(random.int(0, longestThought))
    }
  }
  const lives = deps.organisations.flatMap((organisation) =>
    (deps.plans ?? usualPlans).map((plan, n) => live(organisation, plan, n)),
  )
  return {
    ledger,
    steps: () => Math.min(...counts),
    answeredAt,
    stop: async () => {
      isStopped = true
      await Promise.all(lives)
    },
    comeBack: async () => {
      await Promise.all(clients.map((client) => client.finish()))
    },
  }
}
