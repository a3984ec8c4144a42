import type { FastifyInstance } from 'fastify'
import { pageOf } from '#http/cursor.js'
import { addEndpoints, badRequest, on } from '#http/endpoint.js'
import { callerOf } from '#http/request-context.js'
import type { Doer } from '#ledger/audit.js'
import type { Wait } from '#ledger/waiting/look-up.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { cancelWaiting, listMissing, listWaiting } from '#schemas/endpoints/waiting.js'
import type { Reads } from '../reads.js'
import { readAfterMissing, readAfterWait, toCancelled, toWaits, writeAfterMissing, writeAfterWait } from './question.js'
import type { AwaitedPage, OwnWaiting, OwnWaits } from './waiting.js'

export type WaitingDeps = {
  catalogue: Catalogue
  waiting: OwnWaiting
  waitingReads: Reads
}

/** An organisation's own records that wait for what they refer to: to look at, and to have wait no longer. */
export const addWaiting = (app: FastifyInstance, deps: WaitingDeps): void => {
  const { waiting, waitingReads: reads } = deps

  const list = on(
    listMissing,
    async ({ query: { cursor: after, limit, type } }, request) => {
      const { orgId } = callerOf(request)
      const page = await reads(orgId, () => waiting.missing(orgId, { type, after, limit: limit + 1 }))
      if ('error' in page) return page
      const { shown, next_cursor } = pageOf(page.missing, limit, writeAfterMissing)
      return { missing: shown.map(awaitedAnswer), waiting: page.waiting, next_cursor }
    },
    { reads: { cursor: readAfterMissing } },
  )

  const records = on(
    listWaiting,
    async ({ query: { cursor: after, limit, ...named } }, request) => {
      const asked = toWaits(named)
      if ('problems' in asked) return { error: badRequest(asked.problems) }
      const { orgId } = callerOf(request)
      const found = await reads(orgId, () => waiting.records(orgId, asked.filter, { after, limit: limit + 1 }))
      if ('error' in found) return found
      const { shown, next_cursor } = pageOf(found, limit, writeAfterWait)
      return { records: shown.map(waitAnswer), next_cursor }
    },
    { reads: { cursor: readAfterWait } },
  )

  const cancel = on(cancelWaiting, async ({ body }, request) => {
    const asked = toCancelled(body)
    if ('problems' in asked) return { error: badRequest(asked.problems) }
    const { orgId, keyId } = callerOf(request)
    const by = { actor: keyId ?? 'nobody', requestId: request.id }
    return reads(orgId, () => cancelAll(orgId, asked.filter, by))
  })

  // In steps, so that each lets go of its rows soon. A row that is locked at a moment is being decided, and is passed over.
  const cancelAll = async (orgId: string, filter: OwnWaits, by: Doer) => {
    let cancelled = 0
    for (let some = stepOfCancelling; some === stepOfCancelling && cancelled < mostCancelled; cancelled += some)
      some = await waiting.cancel(orgId, filter, stepOfCancelling, by)
    const left = await waiting.count(orgId, filter)
    return { cancelled, left, complete: left === 0 }
  }

  addEndpoints(app, deps.catalogue, [list, records, cancel])
}

const stepOfCancelling = 1_000
/** In one request, which answers in some seconds then; asked again, it goes on. */
const mostCancelled = 20_000

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
