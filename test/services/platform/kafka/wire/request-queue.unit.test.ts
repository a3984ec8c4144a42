import { createRequire } from 'node:module'
import { afterEach, expect, it, vi } from 'vitest'
import { quietRequestQueues } from '#platform/kafka/wire/request-queue.js'

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
  quietRequestQueues()
  quietRequestQueues()
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
  quietRequestQueues()
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
