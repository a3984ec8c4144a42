import { expect, it } from 'vitest'
import { createPauses } from '#platform/process/pauses.js'

const workFor = (ms: number) => {
  for (const end = performance.now() + ms; performance.now() < end; );
}

it('gives everything else its turn in the middle of a long loop, and not at every step of it', async () => {
  let turns = 0
  const pause = createPauses()
  const timer = setInterval(() => turns++, 1)
  for (let step = 0; step < 100; step++) {
    await pause()
    workFor(1)
  }
  clearInterval(timer)
  expect(turns).toBeGreaterThan(1)
  expect(turns).toBeLessThan(100)
})

it('lets others be served whenever a loop has taken long', async () => {
  let now = 0
  const pause = createPauses(() => now)
  expect(pause()).toBeUndefined()
  now = 4
  expect(pause()).toBeUndefined()
  now = 5
  await pause()
  expect(pause()).toBeUndefined()
  now = 9
  expect(pause()).toBeUndefined()
})
