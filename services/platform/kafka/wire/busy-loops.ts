// @ts-expect-error: kafkajs's types leave out its inner parts; known-client.ts says which version has these.
import Runners from 'kafkajs/src/consumer/runner.js'
// @ts-expect-error: as above.
import RequestQueues from 'kafkajs/src/network/requestQueue/index.js'
import { unlike } from './known-client.js'

/** What of kafkajs's own class is used or replaced here. */
type RequestQueue = {
  pending?: readonly unknown[]
  inflight: Map<number, { sentAt: number; requestTimeout: number; timeoutRequest: () => void }>
  enforceRequestTimeout: boolean
  requestTimeout: number
  requestTimeoutIntervalId: NodeJS.Timeout | null
  isConnected: () => boolean
  destroy: () => void
  scheduleCheckPendingRequests?: () => void
  scheduleRequestTimeoutCheck?: () => void
}

// A request may take 30 s: whether it took too long need not be known to a tenth of a second, for each connection.
const lookForTimeoutsEvery = 1_000

/**
 * Where kafkajs is busy with nothing.
 * - A connection that has had an answer looks every millisecond, for ever, whether one of its requests is pending: it pauses until a moment
 *   that is over. An idle edge, integrity and sink spent 15 % of a core on that. With nothing pending there is nothing to look for: the next
 *   request is sent at once, or has the queue look again.
 * - It looks ten times a second whether a request has timed out.
 * - A consumer that is stopped while its fetchers are made anew, since a broker came or went, fetches on: nothing, at once and for ever, so that
 *   its process does nothing else any more. An edge hung in that way when a live stream was closed while a broker was cut off. Each fetcher
 *   ends at an error.
 */
export const calmBusyLoops = (): void => {
  if (areCalm) return
  calmRequestQueues()
  endStoppedRunners()
  areCalm = true
}

let areCalm = false

const calmRequestQueues = (): void => {
  const { prototype } = RequestQueues as { prototype: RequestQueue }
  const { scheduleCheckPendingRequests, scheduleRequestTimeoutCheck } = prototype
  if (scheduleCheckPendingRequests === undefined) throw unlike('a request queue has no scheduleCheckPendingRequests')
  if (scheduleRequestTimeoutCheck === undefined) throw unlike('a request queue has no scheduleRequestTimeoutCheck')
  prototype.scheduleCheckPendingRequests = function (): void {
    if (this.pending?.length !== 0) scheduleCheckPendingRequests.call(this)
  }
  prototype.scheduleRequestTimeoutCheck = function (): void {
    if (!this.enforceRequestTimeout) return
    this.destroy()
    const look = () => {
      for (const request of this.inflight.values())
        if (Date.now() - request.sentAt > request.requestTimeout) request.timeoutRequest()
      if (!this.isConnected()) this.destroy()
    }
    this.requestTimeoutIntervalId = setInterval(look, Math.min(this.requestTimeout, lookForTimeoutsEvery))
  }
}

type Runner = { running: boolean; fetch?: (nodeId: string) => Promise<unknown[]> }

const endStoppedRunners = (): void => {
  const { prototype } = Runners as { prototype: Runner }
  const { fetch } = prototype
  if (fetch === undefined) throw unlike('a runner has no fetch')
  prototype.fetch = async function (nodeId): Promise<unknown[]> {
    if (!this.running) throw new Error('this consumer is stopped')
    return fetch.call(this, nodeId)
  }
}
