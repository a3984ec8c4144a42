// The journeys (`e2e`) travel through whole systems, one for each vitest worker: a journey may stop and kill what it likes,
// and two of them run side by side. A worker's first journey has its system started; the ones after it find it running.
import { mkdtemp, rm } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestProject } from 'vitest/node'
import { freePortVariables } from '../free-port-variables.js'
import { serveWorkers } from '../serve-workers.js'
import { startWholeSystem } from './whole-system.js'

// On a busy machine integrity may be seconds behind, and the edge would turn away what a journey sends.
const MAX_LAG_MS = '60000'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where a worker gets a system, which runs for as long as the worker stays connected. */
    systemsPort: number
  }
}

export default async (project: TestProject): Promise<() => Promise<void>> => {
  const lives = new Set<Promise<void>>()

  const live = async (worker: Socket): Promise<void> => {
    // By itself it would not notice a connection that is cut off, as that of a killed worker is.
    const lines = createInterface(worker)
    worker.on('close', () => lines.close())
    const requests = lines[Symbol.asyncIterator]()
    const dataDir = await mkdtemp(join(tmpdir(), 'weir-system-'))
    const env = { ...(await freePortVariables()), MAX_LAG_MS }
    const start = async () => {
      const { system, stop } = await startWholeSystem({ dataDir, env })
      worker.write(`${JSON.stringify({ system })}\n`)
      return stop
    }
    try {
      let stop = await start()
      // Each line from the worker asks for a restart; after the last one, the worker is gone.
      for await (const _ of requests) {
        await stop()
        stop = await start()
      }
      await stop()
    } finally {
      await rm(dataDir, { recursive: true, force: true })
    }
  }
  const { port, close } = await serveWorkers((worker) => {
    const life = live(worker)
    lives.add(life)
    // The journeys that wait for it say why it did not come up; why it did not go down is said at the end.
    life.catch((error: Error) => worker.writable && worker.end(`${JSON.stringify({ problem: error.message })}\n`))
  })
  project.provide('systemsPort', port)

  return async () => {
    close()
    await Promise.all(lives)
  }
}
