// The journeys (`e2e`) travel through whole systems, one for each vitest worker: a journey may stop and kill what it likes,
// and two of them run side by side. A worker's first journey has its system started; the ones after it find it running.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestProject } from 'vitest/node'
import { startWholeSystem } from './whole-system.js'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where a worker asks for its system: workers come and go, so the systems belong to the process that starts them. */
    systemsUrl: string
  }
}

export default async (project: TestProject): Promise<() => Promise<void>> => {
  const systems = new Map<string, ReturnType<typeof startWholeSystem>>()
  const systemOf = (worker: string) => {
    const started = systems.get(worker) ?? startWholeSystem()
    systems.set(worker, started)
    return started
  }

  const server = createServer((request, response) => {
    const answer = (status: number, body: string) => response.writeHead(status).end(body)
    systemOf(request.url ?? '').then(
      ({ system }) => answer(200, JSON.stringify(system)),
      (error: Error) => answer(500, error.message),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  project.provide('systemsUrl', `http://127.0.0.1:${(server.address() as AddressInfo).port}`)

  return async () => {
    server.close()
    server.closeAllConnections()
    // One that did not come up has cleaned up after itself, and its journeys have failed already.
    const started = await Promise.allSettled(systems.values())
    await Promise.all(started.map((each) => each.status === 'fulfilled' && each.value.stop()))
  }
}
