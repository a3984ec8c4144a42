import type { FastifyReply, FastifyRequest } from 'fastify'

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
