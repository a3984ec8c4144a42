import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sized } from '../support/sized.js'
import { type Command, history } from './history.js'
import { brokenRules, type Rules, resumedTwice } from './rules.js'
import { runHistory } from './system.js'

// More of them: MODEL_RUNS=100000 MODEL_SEED=7 npx vitest run --project unit test/model
const runs = Number(process.env.MODEL_RUNS ?? sized(400, 1500))
const seed = Number(process.env.MODEL_SEED ?? 5)

const check = (
  lanes: number,
  broken: Partial<Rules> = {},
  options: { endOnFailure?: boolean; numRuns?: number; examples?: [Command[]][] } = {},
) =>
  fc.check(
    fc.property(history, (commands) => runHistory(commands, broken, lanes)),
    { numRuns: runs, seed, ...options },
  )

it.each([1, 2])(
  'comes out of every history as the naive system does, with %i lanes',
  (lanes) => {
    // Also those histories that are drawn too seldom.
    const examples = Object.values(brokenRules).flatMap(({ example }): [Command[]][] => (example ? [[example]] : []))
    const { failed, errorInstance, counterexamplePath } = check(lanes, {}, { examples: [...examples, [resumedTwice]] })
    expect(failed ? `seed ${seed}, path ${counterexamplePath}: ${errorInstance}` : 'nothing found').toBe(
      'nothing found',
    )
  },
  600_000,
)

describe('finds out a system that', () => {
  it.each(Object.entries(brokenRules))(
    '%s',
    (_, { broken, shows, lanes = 1, example }) => {
      // The failing history is not shrunk: that takes seconds, and nobody reads it. Mostly it is among the first.
      const { failed, errorInstance } = check(lanes, broken, {
        endOnFailure: true,
        numRuns: 5 * runs,
        ...(example && { examples: [[example]] }),
      })
      expect(failed).toBe(true)
      expect((errorInstance as Error).message).toMatch(shows)
    },
    600_000,
  )
})
