import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { requestError, sendError } from '#http/request-error.js'
import type { Includes, Network } from './network.js'

/** The first hook of every request: how a request came here decides whether it is answered, and with which headers. */
export const addNetwork = (
  app: FastifyInstance,
  network: Pick<Network, 'isTrustedProxy' | 'isServed' | 'origins'>,
): void => {
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(securityHeaders(request.protocol === 'https'))
    if (cameInTheClear(request, network.isTrustedProxy)) return sendError(reply, useHttps)
    if (!network.isServed(request.socket.remoteAddress) && !isProbe(request)) return sendError(reply, useProxy)
    return answerOrigin(request, reply, network.origins)
  })
}

/** The headers of every answer. Browsers must ignore HSTS that comes over plain HTTP, so it goes out over TLS alone. */
export const securityHeaders = (isHttps: boolean): Readonly<Record<string, string>> => (isHttps ? withHsts : always)

// A page that needs more than nothing, like /docs, sets its own content-security-policy over this one.
const always = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
} as const
const withHsts = { ...always, 'strict-transport-security': 'max-age=31536000; includeSubDomains' } as const

/** Whether a proxy passed this on from a client that spoke plain HTTP, or does not say that the client spoke TLS. */
const cameInTheClear = (request: FastifyRequest, isTrustedProxy: Includes): boolean =>
  isTrustedProxy(request.socket.remoteAddress) && !isProbe(request) && !saysHttps(request)

// Probes come from inside the network, often through the same proxy, and carry no key.
const isProbe = ({ routeOptions }: FastifyRequest): boolean => probed.has(routeOptions.url)
const probed: ReadonlySet<string | undefined> = new Set(['/healthz', '/readyz', '/metrics'])

// Proxies in a row each add a word to the header, and one stretch of plain HTTP is enough for others to read the key.
const saysHttps = (request: FastifyRequest): boolean =>
  [request.headers['x-forwarded-proto'] ?? '']
    .flat()
    .join(',')
    .split(',')
    .every((protocol) => protocol.trim().toLowerCase() === 'https')

// Not a redirect: the key has crossed the network in the clear already, and a redirected client would never learn that.
const useHttps = requestError(403, 'this came over plain HTTP; use https, and replace the API key if one was sent')

// A client beside the proxy would have sent its key in the clear, and a network that lets it come here does so for others too.
const useProxy = requestError(
  403,
  'this came over plain HTTP and not through a proxy that the edge knows; use the https address, and replace the API key if one was sent (operators: TRUST_PROXY and PLAIN_HTTP_FROM name who is served)',
)

// CORS: lets pages of the configured origins read the answer. Pages of all other origins get no header, so their browser keeps
// the answer from them. Never `*`, and never with credentials: a key travels in a header that the page itself sets.
const answerOrigin = (
  request: FastifyRequest,
  reply: FastifyReply,
  origins: ReadonlySet<string>,
): FastifyReply | undefined => {
  if (origins.size === 0) return undefined
  // Also where the request has no origin: a cache must not give that answer to a page.
  reply.header('vary', 'Origin')
  const { origin } = request.headers
  if (origin === undefined || !origins.has(origin)) return undefined
  reply.headers({ 'access-control-allow-origin': origin, 'access-control-expose-headers': exposed })
  const isPreflight = request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined
  return isPreflight ? reply.code(204).headers(preflight).send() : undefined
}

const preflight = {
  'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
  'access-control-allow-headers':
    'authorization, content-type, content-encoding, idempotency-key, prefer, weir-analyst-password',
  'access-control-max-age': '600',
}
const exposed =
  'x-request-id, location, preference-applied, weir-dry-run, retry-after, ratelimit-limit, ratelimit-remaining, ratelimit-reset'
