import { expect, it } from 'vitest'
import { createMetrics } from '#platform/health/metrics.js'
import { shop } from '#schemas/records/shop.js'
import { createFigures } from '../../../../services/edge/figures.js'
import { createSubmit } from '../../../../services/edge/stream/submit.js'
import { createVerdicts } from '../../../../services/edge/stream/verdicts.js'
import { batchOf, outgoing } from '../../../support/batch.js'
import { silent } from '../edge.js'
import { verdictOn } from '../fakes/submit.fake.js'
import { createFakeVerdictStore } from '../fakes/verdict-store.fake.js'

/** How many batches count as in flight. */
const inFlight = { batches: 0 }
const count = () => {
  inFlight.batches++
  return () => void inFlight.batches--
}

const placeOf = () => 'shops/0'

const submitted = Array.from({ length: 5 }, (_, i) => batchOf(shop, [], { batch: i + 1, batches: 5 }))
const batches = submitted.map((batch) => outgoing(shop, batch))

it('waits for the verdicts of what was written, and leaves nobody waiting', async () => {
  const verdicts = createVerdicts({ store: createFakeVerdictStore(), timeout: 1000, now: () => 0, log: silent })
  const metrics = createMetrics('edge')
  const submit = createSubmit({
    publish: async (type) => {
      // Back before the publishing call returns.
      for (const batch of submitted.slice(0, 2)) verdicts.settle(verdictOn(type, batch))
      return 2
    },
    verdicts,
    figures: createFigures(metrics),
    publishWithin: 900,
    placeOf,
    count,
    now: () => 0,
  })
  const outcomes = await submit('shops', batches)
  expect(outcomes.map((outcome) => ('verdict' in outcome ? outcome.verdict.batch : outcome.unknown))).toEqual([
    1,
    2,
    'not published',
    'not published',
    'not published',
  ])
  expect([verdicts.waiting(), inFlight.batches]).toEqual([0, 0])
  expect(await metrics.text()).toContain('weir_edge_batches_in_flight 0')
})

it('answers only when publishing has ended, and gives it less time than the verdicts', async () => {
  const clock = { ms: 0 }
  const verdicts = createVerdicts({ store: createFakeVerdictStore(), timeout: 1000, now: () => clock.ms, log: silent })
  const figures = createFigures(createMetrics('edge'))
  let end = (_written: number): void => {}
  const given: number[] = []
  const publish = (_type: string, _batches: unknown, within: number) => {
    given.push(within)
    return new Promise<number>((resolve) => (end = resolve))
  }
  const stuck = createSubmit({ publish, publishWithin: 900, placeOf, count, verdicts, figures, now: () => clock.ms })
  let answered = false
  const outcomes = stuck('shops', batches.slice(0, 1)).finally(() => (answered = true))
  clock.ms = 1000
  await verdicts.tick()
  await new Promise(setImmediate)
  expect([given, answered]).toEqual([[900], false])
  end(0)
  expect(await outcomes).toEqual([{ unknown: 'not published' }])

  const publishBroken = () => Promise.reject(new Error('broken'))
  const broken = createSubmit({
    publish: publishBroken,
    publishWithin: 900,
    placeOf,
    count,
    verdicts,
    figures,
    now: () => 0,
  })
  await expect(broken('shops', batches)).rejects.toThrow('broken')
  expect([verdicts.waiting(), inFlight.batches]).toEqual([0, 0])
})

it('waits no longer than it is asked to once all is written, and leaves nobody waiting', async () => {
  const verdicts = createVerdicts({ store: createFakeVerdictStore(), timeout: 60_000, now: () => 0, log: silent })
  const figures = createFigures(createMetrics('edge'))
  let acknowledge = (_count: number): void => {}
  const publish = () => new Promise<number>((resolve) => (acknowledge = resolve))
  const submit = createSubmit({ publish, publishWithin: 900, placeOf, count, verdicts, figures, now: () => 0 })
  const told: number[] = []
  const onWritten = (count: number) => void told.push(count)
  const outcomes = submit('shops', batches, { patience: 0, onWritten })
  const [first] = submitted
  if (!first) throw new Error('there are no batches')
  verdicts.settle(verdictOn('shops', first))
  expect(verdicts.waiting()).toBe(4)
  acknowledge(3)
  expect((await outcomes).map((outcome) => ('verdict' in outcome ? 'decided' : outcome.unknown))).toEqual([
    'decided',
    'no verdict yet',
    'no verdict yet',
    'not published',
    'not published',
  ])
  expect([verdicts.waiting(), told]).toEqual([0, [3]])
  // Integrity still has to decide them, whoever waits.
  expect(inFlight.batches).toBe(2)
  for (const batch of submitted) verdicts.settle(verdictOn('shops', batch))
  expect(inFlight.batches).toBe(0)
})
