import { setTimeout as wait } from 'node:timers/promises'
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { type Generation, publishedOf, toDecide } from '#ledger/layout/layout.js'
import { countedFrom } from '#platform/kafka/partitions.js'
import { catalogue } from '#schemas/catalogue.js'
import { generationOf, mostOffsets } from '#schemas/version.js'
import { followGenerations, isWorkedOff } from '../../../services/integrity/generations.js'
import { createLanePlace } from '../../../services/integrity/waiting/lane-place.js'

const old: Generation = {
  generation: 0,
  lanes: 1,
  submittedPartitions: 4,
  acceptedPartitions: 4,
  state: 'closed',
  ends: { 'weir.submitted.shops/0': 3, 'weir.submitted.shops/1': 1 },
}
const next: Generation = { ...old, generation: 1, lanes: 4, submittedPartitions: 8, state: 'open', ends: {} }
const at = (partition: number, offset: number) => ({ topic: 'weir.submitted.shops', partition, offset })
const cursorsAt = (zero: number, one: number) =>
  new Map([
    ['weir.submitted.shops/0', zero],
    ['weir.submitted.shops/1', one],
  ])

it('is worked off only where all of it is published and Postgres knows of it', () => {
  expect(isWorkedOff(old, [at(0, 3), at(1, 1)], cursorsAt(3, 1))).toBe(true)
  expect(isWorkedOff(old, [at(0, 2), at(1, 1)], cursorsAt(3, 1))).toBe(false)
  expect(isWorkedOff(old, [at(0, 3)], cursorsAt(3, 1))).toBe(false)
  expect(isWorkedOff(old, [at(0, 3), at(1, 1)], cursorsAt(3, 0))).toBe(false)
})

it('decides the first that is not finished, never one that is only coming', () => {
  expect(toDecide([old, next])).toBe(old)
  expect(toDecide([{ ...old, state: 'finished' }, next])).toBe(next)
  expect(
    toDecide([
      { ...old, state: 'open' },
      { ...next, state: 'coming' },
    ])?.generation,
  ).toBe(0)
  expect(publishedOf([{ ...old, state: 'finished' }, next])).toEqual([at(0, 3), at(1, 1)])
  expect(publishedOf([old, next])).toEqual([])
})

it('reads nothing of a generation before all of the one before it is published, and then ends reading that', async () => {
  let all = [{ ...old, state: 'open' as Generation['state'] }]
  let published = [at(0, 3)]
  const seen: string[] = []
  const following = await followGenerations({
    find: async () => all,
    committed: async () => published,
    cursors: async () => cursorsAt(3, 1),
    finish: async (generation) => {
      seen.push(`finish ${generation}`)
      all = all.map((each) => (each.generation === generation ? { ...each, state: 'finished' } : each))
    },
    open: async ({ generation }) => {
      seen.push(`open ${generation}`)
      return async () => void seen.push(`close ${generation}`)
    },
    log: pino({ level: 'silent' }),
    lookEvery: 5,
  })
  all = [old, next]
  await wait(50)
  expect(seen).toEqual(['open 0'])
  published = [at(0, 3), at(1, 1)]
  await expect.poll(() => seen).toEqual(['open 0', 'finish 0', 'open 1', 'close 0'])
  await following.close()
  expect(seen.at(-1)).toBe('close 1')
})

it('counts the offsets of later topics on from where those before can never come', () => {
  expect(['weir.submitted.shops', 'weir.submitted.shops.g1', 'weir.submitted.shop-tags.g15'].map(countedFrom)).toEqual([
    0,
    mostOffsets,
    15 * mostOffsets,
  ])
  expect(generationOf(countedFrom('weir.submitted.shops.g2') + 7)).toBe(2)
})

it('sends what waits to the lane where it began, and after a change to the lane of its id', () => {
  const id = '0b0e7a86-4d0e-4c76-9a4c-8d5f2f6b7c11'
  const wait = { topic: 'weir.submitted.shops', partition: 3, type: 'shops', orgId: 'acme', id } as never
  expect(createLanePlace(catalogue, () => old)(wait)).toEqual({ topic: 'weir.submitted.shops', partition: 3 })
  const now = createLanePlace(catalogue, () => next)(wait)
  expect(now.topic).toBe('weir.submitted.shops.g1')
  expect(now.partition).toBeLessThan(8)
  const one = { topic: 'weir.submitted.interactions', partition: 3, type: 'interactions', orgId: 'acme', id } as never
  const elsewhere = {
    topic: 'weir.submitted.interactions',
    partition: 1,
    type: 'interactions',
    orgId: 'b',
    id,
  } as never
  // An interaction meets itself by its own id.
  const placeNow = createLanePlace(catalogue, () => next)
  expect(placeNow(one)).toEqual(placeNow(elsewhere))
})
