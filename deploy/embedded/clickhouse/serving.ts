import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Opens the port and tells which one it became; a busy port is said in words. */
export const listen = (server: Server, port: number, host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE'
          ? new Error(`port ${port} on ${host} is in use: stop what listens there or set CLICKHOUSE_PORT`)
          : error,
      ),
    )
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port))
  })

/** Takes no more requests, waits for those under way, then cancels them; false when even that did not end them. */
export const stopServing = (server: Server, patience: number, cancelAll: () => Promise<unknown>): Promise<boolean> =>
  new Promise((resolve) => {
    server.close(() => resolve(true))
    server.closeIdleConnections()
    setTimeout(() => {
      setTimeout(() => resolve(false), 1_000)
      cancelAll().catch(() => resolve(false))
    }, patience)
  })
