import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Log } from '#platform/health/log.js'
import { noTracing, type Tracing } from '#platform/tracing/tracing.js'
import type { EdgeFigures } from '../figures.js'

/** One line and one count for each request: its route's pattern, never its address, body or key. */
export const addRequestLog = (app: FastifyInstance, { log, figures }: { log: Log; figures: EdgeFigures }): void => {
  app.addHook('onResponse', async (request, reply) => {
    const { method } = request
    const route = request.routeOptions.url ?? 'unknown'
    const status = reply.statusCode
    figures.requests.inc({ route, method, status })
    figures.duration.observe({ route, method }, reply.elapsedTime / 1000)
    const facts = factsOf(request, reply, route)
    request.span?.end(
      spanFactsOf(facts),
      status >= 500 ? (request.failure ?? new Error(`status ${status}`)) : undefined,
    )
    // A 503 without an exception is the edge shedding load: there are thousands of these, and a metric counts them.
    if (status === 503 && !request.failure) log.warn(facts, 'request turned away')
    else if (status >= 500) log.error({ ...facts, err: request.failure ?? undefined }, 'request failed')
    else log.info(facts, 'request answered')
  })
}

/** Begins a span of each request that is traced; its end says what its log line says. */
export const addSpans = (app: FastifyInstance, { tracing = noTracing }: { tracing?: Tracing }): void => {
  if (tracing === noTracing) return
  app.addHook('onRequest', async (request) => {
    const name = `${request.method} ${request.routeOptions.url ?? 'unknown'}`
    request.span = tracing.request(name, request.headers.traceparent?.toString()) ?? null
  })
}

const factsOf = (request: FastifyRequest, reply: FastifyReply, route: string) => ({
  method: request.method,
  route,
  status: reply.statusCode,
  ms: Math.round(reply.elapsedTime * 10) / 10,
  request_id: request.id,
  org: request.caller?.orgId,
  key_id: request.caller?.keyId ?? undefined,
  records: request.recordCount ?? undefined,
  trace_id: request.span?.traceId,
})

const spanFactsOf = ({ method, route, status, request_id, org, records }: ReturnType<typeof factsOf>) => ({
  'http.request.method': method,
  'http.route': route,
  'http.response.status_code': status,
  'weir.request_id': request_id,
  'weir.org_id': org,
  'weir.records': records,
})
