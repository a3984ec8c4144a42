import type { FastifyRequest } from 'fastify'
import { requestError } from '../http/request-error.js'
import type { Includes } from './addresses.js'

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
