import { expect, it } from 'vitest'
import type { Fetch } from '#platform/kafka.js'
import { watchFailures } from '../../../services/integrity/failing-fetches.js'

const fetchOf = (partition: number) => ({ topic: 'weir.submitted.shops', partition }) as Fetch

const watched = () => {
  const world = { time: 0, isFull: false }
  const handle = async () => {
    if (world.isFull) throw new Error('no space left on device')
  }
  return { world, ...watchFailures(handle, () => world.time) }
}

it('tells of a fetch that fails, until it succeeds', async () => {
  const { world, handle, check } = watched()
  await handle(fetchOf(1))
  expect(check).not.toThrow()
  world.isFull = true
  await expect(handle(fetchOf(1))).rejects.toThrow('no space left on device')
  expect(check).toThrow('batches of weir.submitted.shops/1 are not decided or told: no space left on device')
  world.isFull = false
  await handle(fetchOf(2))
  expect(check).toThrow('weir.submitted.shops/1')
  await handle(fetchOf(1))
  expect(check).not.toThrow()
})

it('forgets a failure whose partition went to another instance', async () => {
  const { world, handle, check } = watched()
  world.isFull = true
  await expect(handle(fetchOf(1))).rejects.toThrow()
  world.time += 30_000
  expect(check).not.toThrow()
})
