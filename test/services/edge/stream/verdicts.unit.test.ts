import { expect, it } from 'vitest'
import type { VerdictEvent } from '#schemas/events.js'
import { createVerdicts } from '../../../../services/edge/stream/verdicts.js'
import { silent } from '../edge.js'
import { createFakeVerdictStore } from '../fakes/verdict-store.fake.js'

const batch = (batch_id: string, records = 1) => ({
  batch_id,
  org_id: 'acme',
  records: { length: records },
  refusals: [],
})
const verdictOf = (batch_id: string) => ({ batch_id }) as VerdictEvent

const create = () => {
  const store = createFakeVerdictStore()
  const asked: string[][] = []
  const clock = { ms: 0 }
  const verdicts = createVerdicts({
    store: {
      ofBatches: (ids) => {
        asked.push([...ids])
        return store.ofBatches(ids)
      },
    },
    timeout: 30_000,
    now: () => clock.ms,
    log: silent,
  })
  return { store, asked, clock, verdicts }
}

it('hands a verdict to everyone who waits for it, and forgets them', async () => {
  const { verdicts } = create()
  const waiting = [
    verdicts.expect(batch('a'), 'shops'),
    verdicts.expect(batch('a'), 'shops'),
    verdicts.expect(batch('b'), 'shops'),
  ]
  verdicts.settle(verdictOf('a'))
  verdicts.settle(verdictOf('unheard of'))
  expect(await waiting[0]?.verdict).toEqual({ batch_id: 'a' })
  expect(await waiting[1]?.verdict).toEqual({ batch_id: 'a' })
  expect(verdicts.waiting()).toBe(1)
  waiting[2]?.abandon()
  expect(await waiting[2]?.verdict).toBeUndefined()
  expect(verdicts.waiting()).toBe(0)
})

it('looks in Postgres for what the topic did not bring, once a second, in one question', async () => {
  const { verdicts, store, asked, clock } = create()
  const a = verdicts.expect(batch('a'), 'shops')
  verdicts.expect(batch('b'), 'shops')
  clock.ms = 900
  await verdicts.tick()
  expect(asked).toEqual([])
  clock.ms = 1000
  store.isAway = true
  await verdicts.tick()
  clock.ms = 1500
  await verdicts.tick()
  expect(asked).toEqual([['a', 'b']])
  clock.ms = 2000
  store.isAway = false
  store.verdicts.push(verdictOf('a'))
  await verdicts.tick()
  expect(await a.verdict).toEqual({ batch_id: 'a' })
  expect(verdicts.waiting()).toBe(1)
})

it('gives up after the time-out', async () => {
  const { verdicts, clock } = create()
  const { verdict } = verdicts.expect(batch('a'), 'shops')
  clock.ms = 30_000
  await verdicts.tick()
  expect(await verdict).toBeUndefined()
  expect(verdicts.waiting()).toBe(0)
})

it('knows how long the oldest batch of a type and organisation is undecided, also after its request was answered', async () => {
  const { verdicts, clock } = create()
  const lags = () => [verdicts.lagOf('shops', 'acme'), verdicts.lagOf('tags', 'acme'), verdicts.lagOf('shops', 'other')]
  expect(lags()).toEqual([0, 0, 0])
  verdicts.expect(batch('a'), 'shops')
  clock.ms = 1_000
  const left = verdicts.expect(batch('b'), 'shops')
  verdicts.expect(batch('c'), 'shops').abandon()
  clock.ms = 31_000
  await verdicts.tick()
  left.leave()
  expect(verdicts.waiting()).toBe(0)
  expect(lags()).toEqual([31_000, 0, 0])
  verdicts.settle(verdictOf('a'))
  expect(lags()).toEqual([30_000, 0, 0])
  verdicts.settle(verdictOf('b'))
  expect(lags()).toEqual([0, 0, 0])
})

it('finds late verdicts in Postgres too, after those that somebody waits for, and forgets batches without any', async () => {
  const { verdicts, store, asked, clock } = create()
  for (let n = 0; n < 1_100; n++) verdicts.expect(batch(`late ${n}`), 'shops')
  clock.ms = 30_000
  await verdicts.tick()
  verdicts.expect(batch('waited for'), 'shops')
  clock.ms = 32_000
  store.verdicts.push(verdictOf('late 0'))
  await verdicts.tick()
  expect(asked.at(-1)).toHaveLength(1_000)
  expect(asked.at(-1)?.slice(0, 3)).toEqual(['waited for', 'late 0', 'late 1'])
  expect(verdicts.lagOf('shops', 'acme')).toBe(32_000)
  clock.ms = 10 * 60_000
  await verdicts.tick()
  expect(verdicts.lagOf('shops', 'acme')).toBe(10 * 60_000 - 30_000)
})

it('expects a batch to wait as long as those in front of it will take, once they are no longer decided soon', () => {
  const { verdicts, clock } = create()
  const expected = () => verdicts.expectedLagOf('shops', 'acme')
  // A thousand records a second.
  verdicts.expect(batch('a', 1_000), 'shops')
  clock.ms = 1_000
  verdicts.settle(verdictOf('a'))
  expect(expected()).toBe(0)
  for (let n = 0; n < 20; n++) verdicts.expect(batch(`b ${n}`, 1_000), 'shops')
  clock.ms = 1_999
  expect(expected()).toBe(999)
  clock.ms = 2_000
  expect(expected()).toBeGreaterThan(20_000)
  expect(verdicts.lagOf('shops', 'acme')).toBe(1_000)
  expect(verdicts.expectedLagOf('tags', 'acme')).toBe(0)
  for (let n = 0; n < 19; n++) verdicts.settle(verdictOf(`b ${n}`))
  expect(expected()).toBe(1_000)
})

it('does not count a batch as in flight that is behind something that hardly moves', async () => {
  const { verdicts, clock } = create()
  const uncounted: string[] = []
  verdicts.expect(batch('a'), 'shops/0', () => uncounted.push('a'))
  clock.ms = 2_000
  verdicts.expect(batch('b'), 'shops/0', () => uncounted.push('b'))
  await verdicts.tick()
  expect(uncounted).toEqual([])
  clock.ms = 3_000
  await verdicts.tick()
  expect(uncounted).toEqual(['a'])
  verdicts.settle(verdictOf('b'))
  expect(uncounted).toEqual(['a', 'b'])
  expect([verdicts.lagAt('shops/0'), verdicts.lagAt('shops/1')]).toEqual([3_000, 0])
  expect(verdicts.oldest()).toBe(3_000)
})
