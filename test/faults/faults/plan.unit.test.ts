import { expect, it } from 'vitest'
import { createRandom } from '../random.js'
import { parts, services } from '../stack/definitions.js'
import { planClient } from '../workload/plan.js'
import { killMany, planKilling } from './killing.js'
import { type Fault, planChaos, planKills } from './plan.js'

const seeds = Array.from({ length: 100 }, (_, n) => `seed ${n}`)
const take = <T>(count: number, steps: Iterable<T>): T[] => {
  const taken: T[] = []
  for (const step of steps) if (taken.push(step) === count) break
  return taken
}

it('plans the same for the same seed, and something else for another', () => {
  expect(planChaos(createRandom('7'))).toEqual(planChaos(createRandom('7')))
  expect(planChaos(createRandom('7'))).not.toEqual(planChaos(createRandom('8')))
  const stepsOf = (seed: string) => take(50, planClient('client', createRandom(seed)))
  expect(stepsOf('7')).toEqual(stepsOf('7'))
  expect(stepsOf('7')).not.toEqual(stepsOf('8'))
})

it('chooses every kind of fault for everything that it can happen to', () => {
  const planned = new Set(
    seeds.flatMap((seed) => planChaos(createRandom(seed)).map(({ kind, target }) => `${kind} ${target}`)),
  )
  const wanted = [
    ...['kill', 'restart', 'pause'].flatMap((kind) => [...services, ...parts].map((target) => `${kind} ${target}`)),
    ...['cut', 'freeze', 'lose', 'delay'].flatMap((kind) => parts.map((target) => `${kind} ${target}`)),
  ]
  expect([...planned].sort()).toEqual(wanted.sort())
})

it('never has two faults at once on one target, and often several at once', () => {
  const overlap = (a: Fault, b: Fault) => a.at < b.at + b.lasts && b.at < a.at + a.lasts
  let together = 0
  for (const seed of seeds) {
    const faults = planChaos(createRandom(seed))
    for (const [n, a] of faults.entries()) {
      for (const b of faults.slice(n + 1)) {
        if (!overlap(a, b)) continue
        together++
        expect(a.target).not.toBe(b.target)
      }
    }
  }
  expect(together).toBeGreaterThan(seeds.length)
})

it('kills everything', () => {
  for (const seed of seeds) {
    const targets = planKills(createRandom(seed)).map(({ target }) => target)
    expect(targets.sort()).toEqual([...services, ...parts].sort())
  }
})

it('goes on killing, everything, parts less often and only where they are meant', () => {
  const kills = take(1000, planKilling(createRandom('7'), true))
  expect(kills).toEqual(take(1000, planKilling(createRandom('7'), true)))
  expect(new Set(kills.map(({ target }) => target))).toEqual(new Set([...services, ...parts]))
  const isPart = ({ target }: { target: string }) => (parts as readonly string[]).includes(target)
  expect(kills.filter(isPart).length).toBeLessThan(300)
  expect(take(1000, planKilling(createRandom('7'), false)).some(isPart)).toBe(false)
  // A thousand within the hour, the checks not counted.
  expect(kills.reduce((sum, { after }) => sum + after, 0)).toBeLessThan(3_600_000)
})

it('counts only kills that met somebody', async () => {
  const met: string[] = []
  const send = (target: string) => target !== 'sink'
  const plan = (['sink', 'edge-1', 'sink', 'edge-2', 'edge-1'] as const).map((target) => ({ after: 0, target }))
  await killMany({ signals: { send } as never, untilMostReady: async () => {} }, plan, 2, (target) => met.push(target))
  expect(met).toEqual(['edge-1', 'edge-2'])
})

it('sends a third of its records before what they refer to, which comes before it stops', () => {
  const steps = take(3000, planClient('client', createRandom('7')))
  const records = steps.flatMap((step) => (step.kind === 'upload' ? step.records : []))
  const share = records.filter(({ expected }) => expected === 'waits').length / records.length
  expect(share).toBeGreaterThan(0.3)
  expect(share).toBeLessThan(0.37)
  const owed = new Set<unknown>()
  for (const step of steps) {
    for (const { expected, record } of step.kind === 'upload' ? step.records : [])
      if (expected === 'waits') owed.add(record.shop_id)
    const interactions = step.kind === 'interaction' ? [step] : step.kind === 'interactions' ? step.each : []
    for (const { expected, body } of interactions) if (expected === 'waits') owed.add(body.item_id)
    if (step.kind === 'upload' && step.type === 'shops') for (const { id } of step.records) owed.delete(id)
    if (!step.owes) expect(owed).toEqual(new Set())
  }
})

it('sends records of every kind and every outcome', () => {
  const steps = take(400, planClient('client', createRandom('7')))
  const uploads = steps.flatMap((step) =>
    step.kind === 'upload' ? step.records.map(({ expected }) => `${step.type} ${expected}`) : [],
  )
  const interactions = steps.flatMap((step) =>
    step.kind === 'interaction' ? [`${step.key === null ? 'plain' : 'keyed'} ${step.expected}`] : [],
  )
  expect([...new Set(uploads)].sort()).toEqual([
    'branches accepted',
    'branches invalid',
    'branches unknown_reference',
    'branches waits',
    'offers accepted',
    'offers invalid',
    'offers unknown_reference',
    'offers waits',
    'shops accepted',
    'shops invalid',
    'tags accepted',
    'tags invalid',
  ])
  expect(new Set(interactions).size).toBe(8)
  const together = steps.flatMap((step) => (step.kind === 'interactions' ? step.each : []))
  expect(new Set(together.map(({ expected }) => expected)).size).toBe(4)
})
