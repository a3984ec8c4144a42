import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

/** A port on which a global set-up hears from the workers of its tests; `close` ends all their connections. */
export const serveWorkers = async (
  onWorker: (worker: Socket) => void,
): Promise<{ port: number; close: () => void }> => {
  const workers = new Set<Socket>()
  const server = createServer((worker) => {
    workers.add(worker)
    // A worker that is killed takes its connection with it.
    worker.on('error', () => {})
    onWorker(worker)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.close()
      for (const worker of workers) worker.destroy()
    },
  }
}
