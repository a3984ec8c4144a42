// The `int` tests share one set of parts; each test file makes its own database, topics or groups on them. They are started when the
// first test asks for them: the journeys come before, and a Kafka that waits for ten minutes costs half a minute of processor time.
import type { Socket } from 'node:net'
import type { TestProject } from 'vitest/node'
import { serveWorkers } from './serve-workers.js'
import { type Stack, startParts } from './stack.js'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where a worker asks for the addresses of the parts; the answer comes once they run. */
    partsPort: number
  }
}

export default async (project: TestProject): Promise<() => Promise<void>> => {
  let starting: Promise<Stack> | undefined
  const tell = async (worker: Socket): Promise<void> => {
    starting ??= startParts()
    const answer = await starting.then(
      ({ env }) => ({ env }),
      (error: Error) => ({ problem: error.message }),
    )
    worker.end(JSON.stringify(answer))
  }
  const { port, close } = await serveWorkers((worker) => void tell(worker))
  project.provide('partsPort', port)

  return async () => {
    close()
    await starting?.then(({ stop }) => stop())
  }
}
