import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { reasonOf } from '#platform/health/health.js'
import type { Log } from '#platform/health/log.js'
import type { Access } from '#platform/process/access.js'
import { packageRoot } from '#platform/process/package-root.js'

export type RemovalSettings = { access: Access; logLevel: string }

const threadFile = join(packageRoot, 'dist/services/persons/remove/thread.js')
const openedAgainAfter = 10_000
const stoppedWithin = 5_000

/**
 * Forgets whom it is asked to, and removes what is too old, for as long as the service runs. On a thread of its own: it reads whole topics, and
 * webhooks must not wait for that, nor end with it.
 */
export const startRemoving = (settings: RemovalSettings, log: Log): { stop: () => Promise<void> } => {
  const stopping = new AbortController()
  let thread: Worker | undefined
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      thread = new Worker(threadFile, { workerData: settings })
      const ended = once(thread, 'exit')
      thread.on('error', (error) =>
        log.error({ reason: reasonOf(error) }, 'what removes records has failed, and is begun anew'),
      )
      await ended
      await wait(openedAgainAfter, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }
  const done = run()
  return {
    stop: async () => {
      stopping.abort()
      thread?.postMessage('stop')
      // It may be reading a topic: wherever it ends, it can begin anew.
      const tooLate = setTimeout(() => thread?.terminate(), stoppedWithin)
      await done
      clearTimeout(tooLate)
    },
  }
}
