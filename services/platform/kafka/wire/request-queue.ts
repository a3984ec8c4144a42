import { createRequire } from 'node:module'
import { unlike } from './known-client.js'

type RequestQueue = { pending?: readonly unknown[]; scheduleCheckPendingRequests?: () => void }

/**
 * Once a connection has had an answer, kafkajs looks every millisecond, for ever, whether one of its requests is pending: it
 * pauses until a moment that is over. An idle edge, integrity and sink spent 15 % of a core on that. With nothing pending there is
 * nothing to look for: the next request is sent at once, or has the queue look again.
 */
export const quietRequestQueues = (): void => {
  if (areQuiet) return
  const { prototype } = createRequire(import.meta.url)('kafkajs/src/network/requestQueue') as {
    prototype: RequestQueue
  }
  const schedule = prototype.scheduleCheckPendingRequests
  if (schedule === undefined) throw unlike('a request queue has no scheduleCheckPendingRequests')
  prototype.scheduleCheckPendingRequests = function (): void {
    if (this.pending?.length !== 0) schedule.call(this)
  }
  areQuiet = true
}

let areQuiet = false
