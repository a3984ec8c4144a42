import type { FastifyInstance, FastifyRequest } from 'fastify'
import { addEndpoints, badRequest, on } from '#http/endpoint.js'
import { keyConflict } from '#http/ids.js'
import { callerOf } from '#http/request-context.js'
import { type RequestError, requestError, tryLater } from '#http/request-error.js'
import type { Catalogue } from '#schemas/catalogue.js'
import * as endpoints from '#schemas/endpoints/rejections.js'
import { isUuid } from '#schemas/uuid.js'
import type { Reads } from '../reads.js'
import { groupAnswer, nextOf, orderAnswer, rejectionAnswer, skippedOf, valueAnswer } from './answers.js'
import { readPlace, toDays, toFilter, toRetry, writePlace } from './question.js'
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

  const list = on(
    endpoints.listRejections,
    async ({ query: { cursor: after, limit, state, ...named } }, request) => {
      const { orgId } = callerOf(request)
      const asked = { filter: toFilter(named), state, limit, ...(after && { after }) }
      const page = await reads(orgId, () => rejections.list(orgId, asked))
      if ('error' in page) return page
      const last = page.isLast ? undefined : page.rejections.at(-1)
      return { rejections: page.rejections.map(rejectionAnswer), next_cursor: last ? writePlace(last) : null }
    },
    { reads: { cursor: readPlace } },
  )

  const summary = on(endpoints.summariseRejections, async ({ query: { state, ...named } }, request) => {
    const { orgId } = callerOf(request)
    const asked = { filter: toFilter(named), state }
    // One more than is shown tells whether there are more.
    const found = await reads(orgId, () => rejections.groups(orgId, asked, mostGroups + 1))
    if ('error' in found) return found
    const { groups, states } = found
    return { groups: groups.slice(0, mostGroups).map(groupAnswer), states, complete: groups.length <= mostGroups }
  })

  const values = on(endpoints.countRejectedValues, async ({ query: { state, ...named } }, request) => {
    const { orgId } = callerOf(request)
    const asked = { filter: toFilter(named), state }
    const found = await reads(orgId, () => rejections.values(orgId, named.field, asked, mostValues + 1))
    if ('error' in found) return found
    return { values: found.slice(0, mostValues).map(valueAnswer), complete: found.length <= mostValues }
  })

  const quality = on(endpoints.readQuality, async ({ query }, request) => {
    const asked = toDays(query, deps.now())
    if ('problems' in asked) return { error: badRequest(asked.problems) }
    const { orgId } = callerOf(request)
    const days = await reads(orgId, () => rejections.quality(orgId, asked))
    return 'error' in days ? days : { ...asked, days }
  })

  const retry = on(endpoints.retryRejections, async ({ body, sha256 }, request, reply) => {
    const asked = toRetry(body, deps.catalogue)
    if ('problems' in asked) return { error: badRequest(asked.problems) }
    if (!sha256) throw new Error('a retry was read without its body')
    const { orgId, keyId } = callerOf(request)
    const { change } = asked
    const answerNoted = async () => {
      const order = await rejections.findOrder(orgId, request.id)
      if (!order) return { error: absent }
      if (!order.bodySha256.equals(sha256)) return { error: keyConflict }
      reply.code(202).header('location', `/v1/rejections/retries/${request.id}`)
      return orderAnswer(order)
    }
    if (request.idempotencyKey !== null && (await rejections.findOrder(orgId, request.id))) return answerNoted()
    if (!asked.dryRun && (await rejections.isBusy(orgId))) return { error: busy }
    const plan = await reads(orgId, () => rejections.plan(orgId, asked))
    if ('error' in plan) return plan
    const toSend = plan.jobs.reduce((sum, { wanted }) => sum + wanted.length, 0)
    if (asked.dryRun) {
      const { matched } = plan
      const samples = change && (await reads(orgId, () => rejections.samples(orgId, plan, change)))
      if (samples && 'error' in samples) return samples
      reply.header('weir-dry-run', 'true')
      return {
        request_id: request.id,
        status: 'done' as const,
        dry_run: true,
        matched,
        submitted: toSend,
        skipped: skippedOf(plan),
        next_cursor: nextOf(plan),
        ...(samples && { samples }),
      }
    }
    const tooMany = toSend > 0 ? deps.rateLimits.takeRecords(request, toSend) : undefined
    if (tooMany) return { error: tooMany }
    request.recordCount = toSend
    await rejections.place({ orderId: request.id, org: orgId, keyId, bodySha256: sha256, change }, plan)
    return answerNoted()
  })

  const lookUp = on(endpoints.lookUpRetry, async ({ parameters: { request_id: given } }, request) => {
    const order = isUuid(given) ? await rejections.findOrder(callerOf(request).orgId, given.toLowerCase()) : undefined
    return order ? orderAnswer(order) : { error: absent }
  })

  addEndpoints(app, deps.catalogue, [list, summary, values, retry, lookUp, quality])
}

const mostGroups = 500
const mostValues = 100

const absent = requestError(404, 'no retry of yours is known by this id')

const busy = tryLater(
  429,
  'what you had submitted again before is still under way; try again when GET of its Location says done',
)
