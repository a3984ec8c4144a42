import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { requestError, sendError } from '../http/request-error.js'
import type { Includes, Network } from './network.js'

const preflight = {
  'access-control-allow-methods': 'GET, HEAD, POST',
  'access-control-allow-headers': 'authorization, content-type, content-encoding, idempotency-key, prefer',
  'access-control-max-age': '600',
}
const exposed =
  'x-request-id, location, preference-applied, weir-dry-run, retry-after, ratelimit-limit, ratelimit-remaining, ratelimit-reset'

/**
 * For pages of the origins that are named; all others get no header, and their browser keeps the answer from them.
 * Never `*`, and never with credentials: a key travels in a header that the page itself sets.
 */
export const answerOrigin = (
  request: FastifyRequest,
  reply: FastifyReply,
  origins: ReadonlySet<string>,
): FastifyReply | undefined => {
  if (origins.size === 0) return undefined
  // Also without an origin: a cache must not give that answer to a page.
  reply.header('vary', 'Origin')
  const { origin } = request.headers
  if (origin === undefined || !origins.has(origin)) return undefined
  reply.headers({ 'access-control-allow-origin': origin, 'access-control-expose-headers': exposed })
  const asksFirst = request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined
  return asksFirst ? reply.code(204).headers(preflight).send() : undefined
}

/** The first hook of every request: how it came here decides whether it is heard, and what its answer carries. */
export const addNetwork = (app: FastifyInstance, network: Pick<Network, 'isTrustedProxy' | 'origins'>): void => {
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(securityHeaders(request.protocol === 'https'))
    if (cameInTheClear(request, network.isTrustedProxy)) return sendError(reply, useHttps)
    return answerOrigin(request, reply, network.origins)
  })
}

// Probes come from inside, often through the same proxy, and carry no key.
const open: ReadonlySet<string | undefined> = new Set(['/healthz', '/readyz', '/metrics'])

/** Whether a proxy passed this on from a client that spoke plain HTTP, or does not say that it spoke TLS. */
export const cameInTheClear = (request: FastifyRequest, isTrustedProxy: Includes): boolean =>
  isTrustedProxy(request.socket.remoteAddress) && !open.has(request.routeOptions.url) && !saysHttps(request)

/** Not a redirect: the key has crossed the network already, and a client that is sent on would never learn that. */
export const useHttps = requestError(
  403,
  'this came over plain HTTP; use https, and replace the API key if one was sent',
)

// With proxies in a row each adds its own word, and one plain stretch is enough to read the key.
const saysHttps = (request: FastifyRequest): boolean =>
  [request.headers['x-forwarded-proto'] ?? '']
    .flat()
    .join(',')
    .split(',')
    .every((protocol) => protocol.trim().toLowerCase() === 'https')

/** On every answer; a page that needs more than nothing sets its own policy over this one. */
const always = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
} as const

/** A browser must not believe HSTS over plain HTTP, so that is where it is not said. */
export const securityHeaders = (isHttps: boolean): Readonly<Record<string, string>> => (isHttps ? withHsts : always)

const withHsts = { ...always, 'strict-transport-security': 'max-age=31536000; includeSubDomains' } as const
