import { pino } from 'pino'
import { expect, it } from 'vitest'
import { periodically } from '#platform/process/periodically.js'
import { eventually } from '../../../support/eventually.js'

const log = pino({ level: 'silent' })

it('goes on after a turn that failed, never does two at once, and waits for the last one when it is stopped', async () => {
  let turns = 0
  let running = 0
  let most = 0
  const { stop } = periodically({
    name: 'test',
    everyMs: 1,
    log,
    work: async () => {
      turns++
      most = Math.max(most, ++running)
      await new Promise((resolve) => setImmediate(resolve))
      running--
      if (turns === 1) throw new Error('not now')
    },
  })
  await eventually(() => expect(turns).toBeGreaterThan(3))
  await stop()
  expect([most, running]).toEqual([1, 0])
})

it('tells the work that it is to stop', async () => {
  let seen: AbortSignal | undefined
  const { stop } = periodically({
    name: 'test',
    everyMs: 1,
    log,
    work: (signal) => {
      seen = signal
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    },
  })
  await eventually(() => expect(seen).toBeDefined())
  await stop()
  expect(seen?.aborted).toBe(true)
})
