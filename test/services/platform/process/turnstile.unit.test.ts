import { expect, it } from 'vitest'
import { createTurnstile } from '#platform/process/turnstile.js'

it('lets as many run as there are places, the others in the order they came, also after one that failed', async () => {
  const inTurn = createTurnstile(2)
  const begun: number[] = []
  const ends: (() => void)[] = []
  const task = (name: number) =>
    inTurn(
      () =>
        new Promise<number>((resolve, reject) => {
          begun.push(name)
          ends.push(() => (name === 1 ? reject(new Error('broken')) : resolve(name)))
        }),
    )
  const results = Promise.allSettled([task(1), task(2), task(3), task(4)])
  await Promise.resolve()
  expect(begun).toEqual([1, 2])
  for (let i = 0; i < 4; i++) {
    await expect.poll(() => ends.length).toBeGreaterThan(i)
    ends[i]?.()
  }
  expect((await results).map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled', 'fulfilled'])
  expect(begun).toEqual([1, 2, 3, 4])
})
