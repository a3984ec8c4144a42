import { createServer } from 'node:http'
import type { Readiness } from './health.js'
import { type Metrics, metricsType } from './metrics.js'

/** What operators ask of a service that has no other HTTP of its own. */
export const startHealthServer = async (deps: {
  host: string
  port: number
  readiness: () => Promise<Readiness>
  metrics: Metrics
}): Promise<{ close: () => Promise<void> }> => {
  const server = createServer((request, response) => {
    const answer = (status: number, type: string, body: string) =>
      response.writeHead(status, { 'content-type': type }).end(body)
    const json = (status: number, body: unknown) => answer(status, 'application/json', JSON.stringify(body))
    const failed = (error: unknown) => json(500, { error: 'Internal Server Error', message: (error as Error).message })

    switch (request.url?.split('?')[0]) {
      case '/healthz':
        return json(200, { status: 'ok' })
      case '/readyz':
        return deps.readiness().then((state) => json(state.status === 'ready' ? 200 : 503, state), failed)
      case '/metrics':
        return deps.metrics.text().then((text) => answer(200, metricsType, text), failed)
      default:
        return json(404, { error: 'Not Found', message: 'try /healthz, /readyz or /metrics' })
    }
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(deps.port, deps.host, resolve)
  })
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
