import type { Socket } from 'node:net'
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import { createAuthenticate, type FindCaller } from '#http/authenticate.js'
import { addEndpoints } from '#http/endpoint.js'
import { newId } from '#http/ids.js'
import { contextFields } from '#http/request-context.js'
import { sendError, toRequestError, writeJson } from '#http/request-error.js'
import { addGuards, addUnrouted, notFound } from '#http/resource.js'
import type { Log } from '#platform/health/log.js'
import type { Tracing } from '#platform/tracing/tracing.js'
import type { Query } from '#query/routes.js'
import { addBodyParser } from './body/body.js'
import type { EdgeFigures } from './figures.js'
import { addDocs } from './http/docs.js'
import { addDownloads, type Download } from './http/downloads.js'
import { addHealth, type HealthDeps } from './http/health.js'
import { addRequestLog, addSpans } from './http/request-log.js'
import type { ImportBounds } from './imports/bounds.js'
import { addImports } from './imports/route.js'
import { createGather } from './interactions/gather.js'
import { createRecordInteraction, type RecordInteractionDeps } from './interactions/record-interaction.js'
import { addAdmission } from './limits/admission.js'
import { addLagShedding } from './limits/lag.js'
import type { Load } from './limits/load.js'
import type { Certificate } from './network/certificate.js'
import { addGoodbye, isLate, readOn, serverOptionsOf, socketError } from './network/connections.js'
import type { Network } from './network/network.js'
import { addNetwork, securityHeaders } from './network/security.js'
import { addRequests } from './requests/route.js'
import type { VerdictStore } from './requests/verdict-store.js'
import { addUploads, type UploadDeps } from './uploads/route.js'

export type AppDeps = Omit<UploadDeps, 'store'> &
  Omit<RecordInteractionDeps, 'store' | 'gather'> &
  HealthDeps & {
    findCaller: FindCaller
    store: Pick<VerdictStore, 'ofRequest' | 'ofKeyedRequest' | 'keyedInteraction'>
    /** Calls `send` when interactions have been gathered for long enough, or, where there is none to gather with, at once. */
    sendLater: (send: () => void, isAlone: boolean) => void
    /** What uploaders install on their own machines. */
    downloads: readonly Download[]
    /** The read side. */
    query: Query
    bodyLimit: number
    load: Load
    /** The longest that an answer may take to begin. */
    answerWithin: number
    importBounds: ImportBounds
    network: Omit<Network, 'host' | 'certificate'>
    /** Whether operators have a port of their own. */
    hasOperationsPort?: boolean
    /** Undefined where the edge speaks plain HTTP. */
    certificate?: Certificate | undefined
    figures: EdgeFigures
    tracing?: Tracing
    log: Log
  }

const onlyJson = 'send the body as JSON, with the header Content-Type: application/json'
const onlyLines =
  'send the body as NDJSON or CSV, with the header Content-Type: application/x-ndjson or text/csv; /v1/data takes JSON'
const formats =
  'send the body as JSON, NDJSON or CSV, with the header Content-Type: application/json, application/x-ndjson or text/csv'

/** The edge without a port: every request's way from its first byte to its answer. */
export const createApp = (deps: AppDeps): FastifyInstance => {
  const { catalogue, log } = deps
  const gather = createGather({ ...deps, type: catalogue.interaction.type })
  const unhurried = new WeakSet<object>()
  const app = Fastify({
    loggerInstance: log as FastifyBaseLogger,
    // http/request-log.ts writes one line for each request.
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: newId,
    bodyLimit: deps.bodyLimit,
    ...serverOptionsOf(deps.network, deps.certificate),
    // Longer than an answer takes: a socket is silent while its request waits for verdicts.
    connectionTimeout: deps.answerWithin + 30_000,
    keepAliveTimeout: 65_000,
    routerOptions: { maxParamLength: 100 },
    // While the edge stops, requests on open connections are still answered; addGoodbye then closes the connection.
    return503OnClosing: false,
    // These errors come before any hook, so the headers that addNetwork would set are set here.
    frameworkErrors: (error, request, reply) =>
      void sendError(reply.headers(securityHeaders(request.protocol === 'https')), toRequestError(error)),
    clientErrorHandler: (error, socket) => {
      // An import may take hours to arrive, and has deadlines of its own.
      if (!(unhurried.has(socket) && isLate(error))) socketError(error, socket as Socket)
    },
  })

  app.setReplySerializer(writeJson)
  for (const field of contextFields) app.decorateRequest(field, null)
  addRequestLog(app, deps)
  addNetwork(app, deps.network)
  app.setErrorHandler((error, request, reply) => {
    const answer = toRequestError(error)
    if (answer.status === 413 || answer.status === 503) readOn(request, reply)
    const { form, tooLarge = 'send less in each request', readLined } = request.routeOptions.config
    if (answer.status === 413)
      answer.message = `the body is larger than ${request.routeOptions.bodyLimit} bytes; ${tooLarge}`
    if (answer.status === 415 && request.routeOptions.config.isStreamed) answer.message = onlyLines
    if (answer.status === 415 && form !== undefined)
      answer.message = `${readLined ? formats : onlyJson}; a body that works: ${form}`
    if (answer.status >= 500) request.failure = error as Error
    return sendError(reply, answer)
  })
  addUnrouted(app, (url) => notFound(url, catalogue))
  app.addHook('onSend', async (request, reply) => {
    reply.header('x-request-id', request.id)
  })

  addGoodbye(app)
  addHealth(app, deps, { isPublicOnly: deps.hasOperationsPort ?? false })
  addDocs(app, deps)
  addDownloads(app, deps.downloads)
  deps.query.addPages(app)
  app.register(async (guarded) => {
    addGuards(guarded, [createAuthenticate(deps), deps.rateLimits.takeRequest])
    // Only now: whoever has no key, or sends too much, leaves no trace.
    addSpans(guarded, deps)
    addLagShedding(guarded, deps)
    addAdmission(guarded, deps)
    addBodyParser(guarded, deps)
    addUploads(guarded, deps)
    addImports(guarded, { ...deps, unhurried, pieceWithin: deps.network.requestTimeout })
    addRequests(guarded, deps)
    deps.query.mount(guarded)
    addEndpoints(guarded, catalogue, [createRecordInteraction({ ...deps, gather }), deps.query.listInteractions])
  })
  return app
}
