import { expect, it } from 'vitest'
import { createRecentFailures } from '#platform/health/recent-failures.js'

const watched = () => {
  const world = { time: 0, isFull: false }
  const describe = (place: string, reason: string) => `${place} stands still: ${reason}`
  const { watch, check } = createRecentFailures(describe, () => world.time)
  const work = async () => {
    if (world.isFull) throw new Error('no space left on device')
    return 'done'
  }
  return { world, check, workAt: (partition: number) => watch({ topic: 'weir.submitted.shops', partition }, work) }
}

it('tells of a partition whose work fails, until it succeeds', async () => {
  const { world, workAt, check } = watched()
  expect(await workAt(1)).toBe('done')
  expect(check).not.toThrow()
  world.isFull = true
  await expect(workAt(1)).rejects.toThrow('no space left on device')
  expect(check).toThrow('weir.submitted.shops/1 stands still: no space left on device')
  world.isFull = false
  await workAt(2)
  expect(check).toThrow('weir.submitted.shops/1')
  await workAt(1)
  expect(check).not.toThrow()
})

it('forgets a failure whose partition went to another instance', async () => {
  const { world, workAt, check } = watched()
  world.isFull = true
  await expect(workAt(1)).rejects.toThrow()
  world.time += 30_000
  expect(check).not.toThrow()
})
