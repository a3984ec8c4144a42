import { once } from 'node:events'
import { createServer } from 'node:http'
import { within } from '../process/within.js'
import { thisBuild } from './build.js'
import { type Metrics, metricsType } from './metrics.js'

export type Check = () => Promise<unknown> | unknown
type PartState = { ok: true } | { ok: false; problem: string }
export type Readiness = { status: 'ready' | 'not_ready'; parts: Record<string, PartState> }

/** The parts that do not work, each with what is wrong. */
export const problemsIn = (parts: Readiness['parts']): { part: string; problem: string }[] =>
  Object.entries(parts).flatMap(([part, state]) => (state.ok ? [] : [{ part, problem: state.problem }]))

const checkWithin = 3_000
/** For services whose readiness the edge asks for as part of its own: less, so that the edge answers in time too. */
export const checkWithinForPeers = 2_000

/** Asks every part at once; a part that does not answer in time is down. */
export const createReadiness =
  (checks: Record<string, Check>, bound = checkWithin): (() => Promise<Readiness>) =>
  async () => {
    const ask = async ([name, check]: [string, Check]) => [name, await stateOf(check, bound)] as const
    const states = await Promise.all(Object.entries(checks).map(ask))
    return {
      status: states.every(([, state]) => state.ok) ? 'ready' : 'not_ready',
      parts: Object.fromEntries(states),
    }
  }

const shareFor = 1_000
// A service that starts is ready at some moment, and is then waited for no longer: a start asks two services behind each other.
const shareUnreadyFor = 100

/** The same answer for all who ask while it is made, and for a second from its beginning: each part is asked once. */
export const shareForASecond = <T>(
  ask: () => Promise<T>,
  now: () => number = () => performance.now(),
  isBrief: (answer: T) => boolean = () => false,
): (() => Promise<T>) => {
  let answer: Promise<T> | undefined
  let until = Number.POSITIVE_INFINITY
  return () => {
    if (answer && now() < until) return answer
    const begunAt = now()
    until = Number.POSITIVE_INFINITY
    answer = ask()
    const share = (ms: number): void => {
      until = begunAt + ms
    }
    answer.then(
      (given) => share(isBrief(given) ? shareUnreadyFor : shareFor),
      () => share(shareFor),
    )
    return answer
  }
}

/** The same for readiness: that something is not ready is shared for a tenth of a second only. */
export const shareReadiness = (ask: () => Promise<Readiness>, now?: () => number): (() => Promise<Readiness>) =>
  shareForASecond(ask, now, ({ status }) => status === 'not_ready')

const stateOf = async (check: Check, bound: number): Promise<PartState> => {
  try {
    // Through `then`: a check that throws at once is down like one that rejects.
    await within(bound, Promise.resolve().then(check))
    return { ok: true }
  } catch (error) {
    return { ok: false, problem: reasonOf(error) }
  }
}

/** An error in words, with its causes. A refused connection to a name with two addresses has no message of its own. */
export const reasonOf = (error: unknown): string => {
  if (error instanceof AggregateError && !error.message) return error.errors.map(reasonOf).join('; ')
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause === undefined ? '' : `: ${reasonOf(error.cause)}`
  return `${error.message || error.name}${cause}`
}

/** The health and metrics pages of a service that has no other HTTP of its own. */
export const startHealthServer = async (deps: {
  host: string
  port: number
  readiness: () => Promise<Readiness>
  metrics: Metrics
}): Promise<{ close: () => Promise<void> }> => {
  const readiness = shareReadiness(deps.readiness)
  const metricsText = shareForASecond(deps.metrics.text)
  const server = createServer((request, response) => {
    const answer = (status: number, type: string, body: string) =>
      response.writeHead(status, { 'content-type': type }).end(body)
    const json = (status: number, body: unknown) => answer(status, 'application/json', JSON.stringify(body))
    const failed = (error: unknown) => json(500, { error: 'Internal Server Error', message: (error as Error).message })

    switch (request.url?.split('?')[0]) {
      case '/healthz':
        return json(200, { status: 'ok', ...thisBuild() })
      case '/readyz':
        return readiness().then((state) => json(state.status === 'ready' ? 200 : 503, state), failed)
      case '/metrics':
        return metricsText().then((text) => answer(200, metricsType, text), failed)
      default:
        return json(404, { error: 'Not Found', message: 'try /healthz, /readyz or /metrics' })
    }
  })
  await once(server.listen(deps.port, deps.host), 'listening')
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
