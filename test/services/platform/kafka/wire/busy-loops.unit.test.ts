import { createRequire } from 'node:module'
import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, expect, it, vi } from 'vitest'
import { calmBusyLoops } from '#platform/kafka/wire/busy-loops.js'

type Queue = {
  throttleCheckTimeoutId: NodeJS.Timeout | null
  push: (request: object) => void
  fulfillRequest: (answer: { correlationId: number; payload: Buffer; size: number }) => void
  scheduleRequestTimeoutCheck: () => void
  destroy: () => void
}
const RequestQueue = createRequire(import.meta.url)('kafkajs/src/network/requestQueue') as new (
  options: object,
) => Queue

const nothing = () => {}
const newQueue = (requestTimeout = 1000) =>
  new RequestQueue({
    maxInFlightRequests: 1,
    requestTimeout,
    enforceRequestTimeout: true,
    logger: { debug: nothing, warn: nothing },
    isConnected: () => true,
  })

afterEach(() => vi.useRealTimers())

it('has a queue look for pending requests while there are some, and not for ever after', () => {
  calmBusyLoops()
  calmBusyLoops()
  const queue = newQueue()
  const sent: number[] = []
  for (const correlationId of [1, 2]) {
    const entry = { correlationId, apiName: 'Fetch', resolve: nothing, reject: nothing }
    queue.push({ entry, expectResponse: true, sendRequest: () => sent.push(correlationId) })
  }
  expect(sent).toEqual([1])
  expect(queue.throttleCheckTimeoutId).not.toBeNull()
  queue.destroy()

  queue.fulfillRequest({ correlationId: 1, payload: Buffer.alloc(0), size: 0 })
  expect(sent).toEqual([1, 2])
  queue.fulfillRequest({ correlationId: 2, payload: Buffer.alloc(0), size: 0 })
  expect(queue.throttleCheckTimeoutId).toBeNull()
})

it.each([500, 30_000])('times a request out that took longer than %i ms, a second later at the most', (allowed) => {
  vi.useFakeTimers()
  calmBusyLoops()
  const queue = newQueue(allowed)
  queue.scheduleRequestTimeoutCheck()
  const failed = vi.fn()
  const entry = { correlationId: 1, apiName: 'Fetch', resolve: nothing, reject: failed }
  queue.push({ entry, expectResponse: true, sendRequest: nothing })
  vi.advanceTimersByTime(allowed)
  expect(failed).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1000)
  expect(failed).toHaveBeenCalledOnce()
  queue.destroy()
  expect(vi.getTimerCount()).toBe(0)
})

it('ends the fetchers of a consumer that is stopped while they are made anew', async () => {
  calmBusyLoops()
  type Runner = { start: () => Promise<void>; stop: () => Promise<void> }
  const Runner = createRequire(import.meta.url)('kafkajs/src/consumer/runner') as new (options: object) => Runner
  const logger = { namespace: () => logger, debug: nothing, info: nothing, warn: nothing, error: nothing }
  let nodes = ['1', '2']
  let looks = 0
  let left = false
  let answer = nothing
  const hanging = new Promise<unknown[]>((resolve) => {
    answer = () => resolve([])
  })
  const consumerGroup = {
    getNodeIds: () => {
      // A loop that never ends would hold up this test for ever, too.
      if (++looks > 1000) throw new TypeError('it looks and looks')
      return nodes
    },
    connect: nothing,
    joinAndSync: nothing,
    heartbeat: nothing,
    fetch: async (node: string) => (node === '1' ? hanging : wait(10, [])),
    leave: () => {
      left = true
    },
  }
  const retry = { retries: 3, initialRetryTime: 10 }
  const runner = new Runner({
    logger,
    consumerGroup,
    instrumentationEmitter: { emit: nothing },
    onCrash: nothing,
    retry,
  })
  await runner.start()
  // The fetcher of the second broker notices, and the one of the first has yet to end.
  nodes = ['2']
  await wait(50)
  const stopped = runner.stop()
  answer()
  await stopped
  expect(left).toBe(true)
  expect(looks).toBeLessThan(100)
})
