import { expect, it } from 'vitest'
import type { VerdictEvent } from '#schemas/events.js'
import { createVerdicts } from '../../../../services/edge/stream/verdicts.js'
import { silent } from '../edge.js'
import { createFakeVerdictStore } from '../fakes/verdict-store.fake.js'

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
  const waiting = [verdicts.expect('a'), verdicts.expect('a'), verdicts.expect('b')]
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
  const a = verdicts.expect('a')
  verdicts.expect('b')
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
  const { verdict } = verdicts.expect('a')
  clock.ms = 30_000
  await verdicts.tick()
  expect(await verdict).toBeUndefined()
  expect(verdicts.waiting()).toBe(0)
})
