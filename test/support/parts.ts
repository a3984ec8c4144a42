// The `int` tests share one set of parts; each test file makes its own database, topics or groups on them. They are started when the
// first test asks for them: the journeys come before, and a Kafka that waits for ten minutes costs half a minute of processor time.
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { TestProject } from 'vitest/node'
import { type Stack, startParts } from './stack.js'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where a worker is told the addresses of the parts, once they run. */
    partsPort: number
  }
}

export default async (project: TestProject): Promise<() => Promise<void>> => {
  let starting: Promise<Stack> | undefined
  const workers = new Set<Socket>()
  const tell = async (worker: Socket): Promise<void> => {
    starting ??= startParts()
    const answer = await starting.then(
      ({ env }) => ({ env }),
      (error: Error) => ({ problem: error.message }),
    )
    worker.end(JSON.stringify(answer))
  }
  const server = createServer((worker) => {
    workers.add(worker)
    // A worker that is killed takes its connection with it.
    worker.on('error', () => {})
    void tell(worker)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  project.provide('partsPort', (server.address() as AddressInfo).port)

  return async () => {
    server.close()
    for (const worker of workers) worker.destroy()
    await starting?.then(({ stop }) => stop())
  }
}
