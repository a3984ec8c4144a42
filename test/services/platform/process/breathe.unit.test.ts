import { expect, it } from 'vitest'
import { createBreathe } from '#platform/process/breathe.js'

const workFor = (ms: number) => {
  for (const end = performance.now() + ms; performance.now() < end; );
}

it('gives everything else its turn in the middle of a long loop, and not at every step of it', async () => {
  let turns = 0
  const breathe = createBreathe()
  const timer = setInterval(() => turns++, 1)
  for (let step = 0; step < 100; step++) {
    await breathe()
    workFor(1)
  }
  clearInterval(timer)
  expect(turns).toBeGreaterThan(1)
  expect(turns).toBeLessThan(100)
})

it('lets others be served whenever a loop has taken long', async () => {
  let now = 0
  const breathe = createBreathe(() => now)
  expect(breathe()).toBeUndefined()
  now = 19
  expect(breathe()).toBeUndefined()
  now = 20
  await breathe()
  expect(breathe()).toBeUndefined()
  now = 39
  expect(breathe()).toBeUndefined()
})
