import fc from 'fast-check'
import type { Drawn } from './edge.js'
import type { ErasingStage } from './rules.js'

/**
 * One thing that happens. `pick` and `choice` are taken modulo what there is to pick from, so that every history can be
 * run.
 */
export type Command =
  | { do: 'submit'; org: string; type: string; key: number | undefined; wait: number | undefined; records: Drawn[] }
  | { do: 'submit again'; pick: number }
  | { do: 'fetch'; pick: number; most: number }
  | { do: 'step'; pick: number; choice: number; notices: boolean; twice: boolean }
  | { do: 'handle a fetch'; pick: number; most: number; steps: number }
  | { do: 'fail'; pick: number }
  | { do: 'crash'; instance: number }
  | { do: 'rebalance'; owners: (number | undefined)[] }
  | { do: 'pause' | 'wake'; instance: number }
  | { do: 'jump'; pick: number; to: number }
  | { do: 'prune'; age: number; isLate: boolean }
  | { do: 'lose offsets' }
  | { do: 'relay looks' | 'relay crash' }
  | { do: 'relay sends'; forgets: boolean }
  | { do: 'cancel'; pick: number }
  | { do: 'sink fetch'; pick: number; most: number }
  | { do: 'sink step'; pick: number }
  | { do: 'sink crash' | 'sink rebalance' }
  | { do: 'erase'; org: string; person: number; afterwards: 'refuse' | 'new' }
  /** `isHelped`: others do what it waits for. `until`: no further than before this stage. */
  | { do: 'erasing goes on'; steps: number; isHelped: boolean; until?: ErasingStage }
  | { do: 'erasing crash' | 'edge looks' }

export const instances = 3
export const orgs = ['acme', 'bolt', 'crux']

const pick = fc.nat({ max: 11 })
const instance = fc.nat({ max: instances - 1 })
const most = fc.integer({ min: 1, max: 4 })
const seldom = fc.nat({ max: 4 }).map((n) => n === 4)
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 1 })

const drawn: fc.Arbitrary<Drawn> = fc.record({
  id: fc.nat({ max: 2 }),
  refers: fc.nat({ max: 2 }),
  isDeleted: seldom,
  isInvalid: seldom,
  key: maybe(fc.nat({ max: 1 })),
  person: maybe(fc.nat({ max: 1 })),
})

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('submit' as const),
      org: fc.constantFrom(...orgs),
      type: fc.constantFrom('shops', 'shops', 'branches', 'offers', 'interactions', 'customers', 'transactions'),
      key: maybe(fc.nat({ max: 1 })),
      // As long as a few steps take, or to the end of the history.
      wait: fc.oneof(fc.constant(undefined), fc.integer({ min: 1, max: 40 }), fc.constant(100_000)),
      records: fc.array(drawn, { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('submit again' as const), pick: fc.nat({ max: 20 }) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('fetch' as const), pick, most }) },
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('step' as const),
      pick,
      choice: pick,
      notices: fc.boolean(),
      twice: seldom,
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('handle a fetch' as const),
      pick,
      most,
      steps: fc.integer({ min: 1, max: 20 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fail' as const), pick }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('crash' as const), instance }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('rebalance' as const),
      owners: fc.array(fc.option(instance, { nil: undefined, freq: 8 }), { minLength: 1, maxLength: 6 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('pause' as const, 'wake' as const), instance }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('jump' as const), pick, to: fc.nat({ max: 4 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('prune' as const), age: fc.nat({ max: 30 }), isLate: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('lose offsets' as const) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('relay looks' as const) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('relay sends' as const), forgets: seldom }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('relay crash' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const), pick }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('sink fetch' as const), pick, most }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('sink step' as const), pick }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('erase' as const),
      org: fc.constantFrom(...orgs),
      person: fc.nat({ max: 1 }),
      afterwards: fc.constantFrom('refuse' as const, 'refuse' as const, 'new' as const),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('erasing goes on' as const),
      steps: fc.integer({ min: 1, max: 12 }),
      isHelped: seldom,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('erasing crash' as const, 'edge looks' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('sink crash' as const, 'sink rebalance' as const) }) },
)

export const history: fc.Arbitrary<Command[]> = fc.array(command, { minLength: 1, maxLength: 80, size: 'max' })
