import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { bodyOf } from '#http/body.js'
import { keyConflict, takeIdempotencyKey } from '#http/ids.js'
import type { Problems } from '#http/parameters.js'
import { callerOf } from '#http/request-context.js'
import { type RequestError, requestError, retryLater, sendError } from '#http/request-error.js'
import { addResource } from '#http/resource.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { readRejections, writeRejections } from '#schemas/derive/scopes.js'
import { isUuid } from '#schemas/uuid.js'
import type { Reads } from '../reads.js'
import { groupAnswer, orderAnswer, qualityAnswer, rejectionAnswer, skippedOf } from './answers.js'
import { createQuestions, writePlace } from './question.js'
import type { OwnRejections } from './rejections.js'

export type RejectionDeps = {
  catalogue: Catalogue
  rejections: OwnRejections
  reads: Reads
  rateLimits: { takeRecords: (request: FastifyRequest, count: number) => RequestError | undefined }
  now: () => number
}

/** An organisation's own refused records: to look at, and to have submitted again once their reason is gone. */
export const addRejections = (app: FastifyInstance, deps: RejectionDeps): void => {
  const { rejections, reads } = deps
  const ask = createQuestions(deps.catalogue)

  const list = async (request: FastifyRequest, reply: FastifyReply) => {
    const asked = ask.page(request.query as Record<string, unknown>)
    if ('problems' in asked) return refuse(reply, asked)
    const { orgId } = callerOf(request)
    const page = await reads(orgId, () => rejections.list(orgId, asked))
    if ('error' in page) return sendError(reply, page.error)
    const last = page.isLast ? undefined : page.rejections.at(-1)
    return reply.send({ rejections: page.rejections.map(rejectionAnswer), next_cursor: last ? writePlace(last) : null })
  }

  const summary = async (request: FastifyRequest, reply: FastifyReply) => {
    const asked = ask.summary(request.query as Record<string, unknown>)
    if ('problems' in asked) return refuse(reply, asked)
    const { orgId } = callerOf(request)
    // One more than is shown tells whether there are more.
    const groups = await reads(orgId, () => rejections.groups(orgId, asked.filter, mostGroups + 1))
    if ('error' in groups) return sendError(reply, groups.error)
    return reply.send({ groups: groups.slice(0, mostGroups).map(groupAnswer), complete: groups.length <= mostGroups })
  }

  const quality = async (request: FastifyRequest, reply: FastifyReply) => {
    const asked = ask.days(request.query as Record<string, unknown>, deps.now())
    if ('problems' in asked) return refuse(reply, asked)
    const { orgId } = callerOf(request)
    const days = await reads(orgId, () => rejections.quality(orgId, asked))
    return 'error' in days ? sendError(reply, days.error) : reply.send({ ...asked, days: days.map(qualityAnswer) })
  }

  const retry = async (request: FastifyRequest, reply: FastifyReply) => {
    // Whoever asks for a dry run as for an upload, in the address, must not get one in earnest.
    if (Object.keys(request.query as object).length > 0) return sendError(reply, noParameters)
    const body = bodyOf(request)
    if ('error' in body) return sendError(reply, body.error)
    const asked = ask.retry(body.json)
    if ('problems' in asked) return refuse(reply, asked)
    const { orgId, keyId } = callerOf(request)
    const answerWith = async (): Promise<FastifyReply> => {
      const order = await rejections.findOrder(orgId, request.id)
      if (!order) return sendError(reply, absent)
      if (!order.bodySha256.equals(body.sha256)) return sendError(reply, keyConflict)
      return reply.code(202).header('location', `/v1/rejections/retries/${request.id}`).send(orderAnswer(order))
    }
    if (request.idempotencyKey !== null && (await rejections.findOrder(orgId, request.id))) return answerWith()
    if (!asked.dryRun && (await rejections.isBusy(orgId))) return sendError(reply, busy)
    const plan = await reads(orgId, () => rejections.plan(orgId, asked.filter, asked.limit))
    if ('error' in plan) return sendError(reply, plan.error)
    const toSend = plan.jobs.reduce((sum, { wanted }) => sum + wanted.length, 0)
    if (asked.dryRun) {
      const { matched } = plan
      return reply.header('weir-dry-run', 'true').send({
        request_id: request.id,
        status: 'done',
        dry_run: true,
        matched,
        submitted: toSend,
        skipped: skippedOf(plan),
      })
    }
    const tooMany = toSend > 0 ? deps.rateLimits.takeRecords(request, toSend) : undefined
    if (tooMany) return sendError(reply, tooMany)
    request.recordCount = toSend
    await rejections.place({ orderId: request.id, org: orgId, keyId, bodySha256: body.sha256 }, plan)
    return answerWith()
  }

  const lookUp = async (request: FastifyRequest, reply: FastifyReply) => {
    const { request_id: given } = request.params as { request_id: string }
    const order = isUuid(given) ? await rejections.findOrder(callerOf(request).orgId, given.toLowerCase()) : undefined
    return order ? reply.send(orderAnswer(order)) : sendError(reply, absent)
  }

  const read = { config: { scope: readRejections } }
  addResource(app, '/v1/rejections', { GET: { ...read, handler: list } })
  addResource(app, '/v1/rejections/summary', { GET: { ...read, handler: summary } })
  addResource(app, '/v1/rejections/retry', {
    POST: {
      config: { scope: writeRejections, form },
      bodyLimit: mostBytes,
      onRequest: takeIdempotencyKey,
      handler: retry,
    },
  })
  addResource(app, '/v1/rejections/retries/:request_id', { GET: { ...read, handler: lookUp } })
  addResource(app, '/v1/quality', { GET: { ...read, handler: quality } })
}

const mostGroups = 500
const mostBytes = 16 * 1024
const form = '{"filter": {"type": "offers", "code": "unknown_reference"}, "dry_run": true}'

const refuse = (reply: FastifyReply, { problems }: Problems): FastifyReply =>
  sendError(reply, { status: 400, message: problems[0]?.message ?? 'the request is wrong', problems })

const noParameters = requestError(
  400,
  `there are no query parameters here; filter, dry_run and limit stand in the body, as in ${form}`,
)

const absent = requestError(404, 'no retry of yours is known by this id')

const busy: RequestError = {
  status: 429,
  message: 'what you had submitted again before is still under way; try again when GET of its Location says done',
  headers: retryLater,
}
