import type { UploadAnswer, Uploader } from '../../support/system/uploader.js'
import type { ClientDeps, Refuse } from './client.js'
import type { RetryOrder } from './ledger.js'
import type { RetryStep } from './plan.js'
import { isDecided, placesIn, toTold } from './told.js'

/** Asks one edge or the other until there is an answer; `undefined` is none. */
export type UntilUsable = <T>(ask: (edge: Uploader) => Promise<T | undefined>) => Promise<T>

/** Orders the refused records of an upload to be submitted again, twice at the same time, and waits for what comes of it. */
export const createRetry = (deps: ClientDeps & { untilUsable: UntilUsable; refuse: Refuse }) => {
  const { org, ledger, untilUsable, refuse } = deps

  return async (step: RetryStep): Promise<void> => {
    const upload = ledger.uploads.findLast((told) => told.org === org && told.step.key === step.of)
    if (!upload) throw new Error(`${step.of} was never answered`)
    const { requestId, step: refused } = upload
    await untilUsable(async (edge) => {
      const answer = await edge.get<{ rejections: unknown[] }>(`/v1/rejections?request_id=${requestId}&limit=1000`)
      if (answer.status !== 200) return refuse(answer)
      return answer.body.rejections.length >= refused.records.length ? answer : undefined
    })
    const body = JSON.stringify({ filter: { request_id: requestId } })
    const order = async (which: string): Promise<RetryOrder> => {
      const placed = await untilUsable(async (edge) => {
        const headers = { 'idempotency-key': `${step.key}-${which}` }
        const answer = await edge.send<RetryOrder>('POST', '/v1/rejections/retry', body, headers)
        return answer.status === 202 ? answer.body : refuse(answer)
      })
      return untilUsable(async (edge) => {
        const answer = await edge.get<RetryOrder>(`/v1/rejections/retries/${placed.request_id}`)
        if (answer.status !== 200) return refuse(answer)
        return answer.body.status === 'done' ? answer.body : undefined
      })
    }
    const orders = await Promise.all(['one', 'other'].map(order))
    ledger.retries.push({ org, requestId, records: refused.records.length, expected: step.expected, orders })

    for (const again of orders.flatMap(({ requests }) => requests)) {
      const records = refused.records.map((record) => ({ ...record, expected: step.expected }))
      const batches = await untilUsable(async (edge) => {
        const answer = await edge.get<UploadAnswer>(`/v1/requests/${again.request_id}`)
        if (answer.status !== 200) return refuse(answer)
        const ids = answer.body.batches.map(({ data }) => data.batch_id)
        const places = placesIn(records, again.request_id, ids, deps.lanes)
        const told = answer.body.batches.map((batch) => toTold(batch, places))
        return told.every(isDecided) ? told : undefined
      })
      const { type } = refused
      const key = step.key
      ledger.uploads.push({
        org,
        step: { kind: 'upload', type, key, records },
        requestId: again.request_id,
        attempts: 1,
        batches,
      })
    }
  }
}
