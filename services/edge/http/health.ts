import Fastify, { type FastifyInstance } from 'fastify'
import { addEndpoints, on } from '#http/endpoint.js'
import { newId } from '#http/ids.js'
import { requestError } from '#http/request-error.js'
import { addUnrouted } from '#http/resource.js'
import { thisBuild } from '#platform/health/build.js'
import { type Check, problemsIn, type Readiness, shareForASecond, shareReadiness } from '#platform/health/health.js'
import { metricsType } from '#platform/health/metrics.js'
import type { Peers } from '#platform/health/peers.js'
import { catalogue } from '#schemas/catalogue.js'
import { readHealth, readMetrics, readReadiness } from '#schemas/endpoints/health.js'
import type { EdgeFigures } from '../figures.js'

export type HealthDeps = {
  /** Readiness of every part, or only of those that uploads need. */
  readiness: { everything: () => Promise<Readiness>; uploads: () => Promise<Readiness> }
  metricsText: () => Promise<string>
}

/** The same, asked at most once a second once all is ready, however many ask. */
export const shareHealth = ({ readiness, metricsText }: HealthDeps): HealthDeps => ({
  readiness: { everything: shareReadiness(readiness.everything), uploads: shareReadiness(readiness.uploads) },
  metricsText: shareForASecond(metricsText),
})

/** The port for operators alone (OPERATIONS_PORT): the same pages, with all that they say. */
export const createOperationsApp = (deps: HealthDeps): FastifyInstance => {
  const app = Fastify({ genReqId: newId })
  addUnrouted(app, () => requestError(404, 'try /healthz, /readyz, /readyz?for=uploads or /metrics'))
  addHealth(app, deps)
  return app
}

/** /healthz, /readyz and /metrics, without a key. `isPublicOnly`: operators have another port, and this one says only ready or not. */
export const addHealth = (
  app: FastifyInstance,
  { readiness, metricsText }: HealthDeps,
  { isPublicOnly = false } = {},
): void => {
  addEndpoints(app, catalogue, [
    on(readHealth, async () => ({ status: 'ok' as const, ...(isPublicOnly ? {} : thisBuild()) })),
    on(readReadiness, async ({ query }, _request, reply) => {
      const state = await readiness[query.for ?? 'everything']()
      reply.code(state.status === 'ready' ? 200 : 503)
      return isPublicOnly ? { status: state.status } : state
    }),
    on(readMetrics, async (_asked, _request, reply) =>
      isPublicOnly
        ? { error: requestError(404, 'the metrics are on the port for operators, OPERATIONS_PORT') }
        : reply.type(metricsType).send(await metricsText()),
    ),
  ])
}

/** A readiness check for each peer. A peer of which only `overlooked` parts are down counts as ready. */
export const peerChecks = (peers: Peers, overlooked: readonly string[] = []): Record<string, Check> =>
  Object.fromEntries([...peers].map(([name, address]) => [name, () => checkPeer(address, overlooked)]))

/** The metrics of each peer; one that does not answer is left out, and a gauge says so. */
export const readPeerMetrics = async (peers: Peers, figures: Pick<EdgeFigures, 'peerUp'>): Promise<string[]> => {
  const texts = await Promise.all(
    [...peers].map(async ([peer, address]) => {
      const text = await ask(`${address}/metrics`).then(
        (answer) => (answer.ok ? answer.text() : undefined),
        () => undefined,
      )
      figures.peerUp.set({ peer }, text === undefined ? 0 : 1)
      return text
    }),
  )
  return texts.filter((text) => text !== undefined)
}

const checkPeer = async (address: string, overlooked: readonly string[]): Promise<void> => {
  const answer = await ask(`${address}/readyz`)
  if (answer.ok) return
  const { parts = {} } = (await answer.json()) as Partial<Readiness>
  const down = problemsIn(parts)
  const counting = down.filter(({ part }) => !overlooked.includes(part))
  if (down.length > 0 && counting.length === 0) return
  throw new Error(counting.map(({ part, problem }) => `${part}: ${problem}`).join('; ') || `answers ${answer.status}`)
}

// Readiness waits 3 s for a check; a peer that hangs is given up on before that, so that the problem names the peer.
const ask = (address: string): Promise<Response> => fetch(address, { signal: AbortSignal.timeout(2_500) })
