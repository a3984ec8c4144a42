import { createRequire } from 'node:module'
import { expect, it } from 'vitest'
import { quietRequestQueues } from '#platform/kafka/wire/request-queue.js'

type Queue = {
  throttleCheckTimeoutId: NodeJS.Timeout | null
  push: (request: object) => void
  fulfillRequest: (answer: { correlationId: number; payload: Buffer; size: number }) => void
  destroy: () => void
}
const RequestQueue = createRequire(import.meta.url)('kafkajs/src/network/requestQueue') as new (
  options: object,
) => Queue

const nothing = () => {}
const newQueue = () =>
  new RequestQueue({
    maxInFlightRequests: 1,
    requestTimeout: 1000,
    logger: { debug: nothing, warn: nothing },
    isConnected: () => true,
  })

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
