import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { bodyOf } from '#http/body.js'
import type { Problems } from '#http/parameters.js'
import { callerOf } from '#http/request-context.js'
import { requestError, sendError } from '#http/request-error.js'
import { addResource } from '#http/resource.js'
import type { Wait } from '#ledger/waiting/look-up.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { readWaiting, writeWaiting } from '#schemas/derive/scopes.js'
import type { Reads } from '../reads.js'
import { createWaitingQuestions, writeAfterMissing, writeAfterWait } from './question.js'
import type { AwaitedPage, OwnWaiting, OwnWaits } from './waiting.js'

export type WaitingDeps = {
  catalogue: Catalogue
  waiting: OwnWaiting
  waitingReads: Reads
}

/** An organisation's own records that wait for what they refer to: to look at, and to have wait no longer. */
export const addWaiting = (app: FastifyInstance, deps: WaitingDeps): void => {
  const { waiting, waitingReads: reads } = deps
  const ask = createWaitingQuestions(deps.catalogue)

  const list = async (request: FastifyRequest, reply: FastifyReply) => {
    const asked = ask.missing(request.query as Record<string, unknown>)
    if ('problems' in asked) return refuse(reply, asked)
    const { orgId } = callerOf(request)
    // One more than is shown tells whether there are more.
    const page = await reads(orgId, () => waiting.missing(orgId, { ...asked, limit: asked.limit + 1 }))
    if ('error' in page) return sendError(reply, page.error)
    const missing = page.missing.slice(0, asked.limit)
    const last = page.missing.length > asked.limit ? missing.at(-1) : undefined
    return reply.send({
      missing: missing.map(awaitedAnswer),
      waiting: page.waiting,
      next_cursor: last ? writeAfterMissing(last) : null,
    })
  }

  const records = async (request: FastifyRequest, reply: FastifyReply) => {
    const asked = ask.records(request.query as Record<string, unknown>)
    if ('problems' in asked) return refuse(reply, asked)
    const { orgId } = callerOf(request)
    const { filter, after, limit } = asked
    const found = await reads(orgId, () => waiting.records(orgId, filter, { after, limit: limit + 1 }))
    if ('error' in found) return sendError(reply, found.error)
    const shown = found.slice(0, limit)
    const last = found.length > limit ? shown.at(-1) : undefined
    return reply.send({ records: shown.map(waitAnswer), next_cursor: last ? writeAfterWait(last) : null })
  }

  const cancel = async (request: FastifyRequest, reply: FastifyReply) => {
    if (Object.keys(request.query as object).length > 0) return sendError(reply, noParameters)
    const body = bodyOf(request)
    if ('error' in body) return sendError(reply, body.error)
    const asked = ask.cancel(body.json)
    if ('problems' in asked) return refuse(reply, asked)
    const { orgId } = callerOf(request)
    const cancelled = await reads(orgId, () => cancelAll(orgId, asked.filter))
    return 'error' in cancelled ? sendError(reply, cancelled.error) : reply.send(cancelled)
  }

  // In steps, so that each lets go of its rows soon. What is locked at a moment is being decided or cancelled by somebody else.
  const cancelAll = async (orgId: string, filter: OwnWaits): Promise<{ cancelled: number; complete: boolean }> => {
    for (let cancelled = 0; ; ) {
      const some = await waiting.cancel(orgId, filter, stepOfCancelling)
      cancelled += some
      const complete = some < stepOfCancelling
      if (complete || cancelled >= mostCancelled) return { cancelled, complete }
    }
  }

  const read = { config: { scope: readWaiting } }
  addResource(app, '/v1/waiting', { GET: { ...read, handler: list } })
  addResource(app, '/v1/waiting/records', { GET: { ...read, handler: records } })
  addResource(app, '/v1/waiting/cancel', {
    POST: { config: { scope: writeWaiting, form }, bodyLimit: mostBytes, handler: cancel },
  })
}

const stepOfCancelling = 1_000
/** In one request, which answers in some seconds then; asked again, it goes on. */
const mostCancelled = 20_000
const mostBytes = 16 * 1024
const form = '{"missing_type": "shops", "missing_id": "3f2b8c1e-9d4a-4e7f-8a1b-2c3d4e5f6a7b"}'

const awaitedAnswer = ({ type, id, waiting, oldest, firstUntil, sample }: AwaitedPage['missing'][number]) => ({
  type,
  id,
  waiting,
  oldest: oldest.toISOString(),
  first_until: firstUntil.toISOString(),
  sample: sample.map((one) => ({
    type: one.type,
    id: one.id,
    field: one.missing.find((reference) => reference.type === type && reference.id === id)?.field ?? null,
    request_id: one.requestId,
    index: one.index,
    until: one.until.toISOString(),
  })),
})

const waitAnswer = ({ type, id, requestId, batchId, index, missing, since, until }: Wait) => ({
  type,
  id,
  request_id: requestId,
  batch_id: batchId,
  index,
  for: missing,
  since: since.toISOString(),
  until: until.toISOString(),
})

const refuse = (reply: FastifyReply, { problems }: Problems): FastifyReply =>
  sendError(reply, { status: 400, message: problems[0]?.message ?? 'the request is wrong', problems })

const noParameters = requestError(
  400,
  `there are no query parameters here; which records are meant stands in the body, as in ${form}`,
)
