import type { SubmittedBatch, VerdictEvent } from '#schemas/events.js'
import type { Part } from './answer.js'
import { type RequestError, requestError } from './request-error.js'
import { partsOfStored } from './stored-request.js'
import type { Outcome, Submit } from './submit.js'
import type { VerdictStore } from './verdict-store.js'

/** The batches of one request; `keyed` where it came with an Idempotency-Key. */
export type Upload = {
  type: string
  orgId: string
  requestId: string
  bodySha256: Buffer
  keyed: boolean
  batches: SubmittedBatch[]
}

/** Submits a request's batches, each once only, and tells what became of them. */
export const createUploader =
  (deps: { submit: Submit; store: Pick<VerdictStore, 'ofRequest'> }) =>
  async (upload: Upload): Promise<{ parts: Part[] } | { error: RequestError }> => {
    const stored = upload.keyed ? await deps.store.ofRequest(upload.orgId, upload.requestId) : []
    if (!stored.every(isOf(upload))) return { error: conflict }
    const before = partsOfStored(stored)
    if (before.length > 0 && before.every(({ outcome }) => outcome !== 'pending')) return { parts: before }

    const decided = new Map(stored.map((verdict) => [verdict.batch_id, verdict]))
    const missing = upload.batches.filter(({ batch_id }) => !decided.has(batch_id))
    const outcomes = await deps.submit(upload.type, missing)
    // Integrity answers a batch that it has seen with its first verdict, whose body may have been another.
    if (!outcomes.every((outcome) => 'unknown' in outcome || isOf(upload)(outcome.verdict))) return { error: conflict }

    const submitted = new Map(missing.map(({ batch_id }, i) => [batch_id, outcomes[i]]))
    return {
      parts: upload.batches.map(({ batch, batch_id }) => ({
        batch,
        batchId: batch_id,
        outcome: outcomeOf(decided.get(batch_id), submitted.get(batch_id)),
      })),
    }
  }

export const conflict = requestError(
  409,
  'this Idempotency-Key was used with another body; send the first body again, or use a new key',
)

const isOf =
  (upload: Upload) =>
  (verdict: VerdictEvent): boolean =>
    verdict.body_sha256.equals(upload.bodySha256)

const outcomeOf = (stored: VerdictEvent | undefined, submitted: Outcome | undefined): Outcome =>
  stored ? { verdict: stored } : (submitted ?? { unknown: 'not published' })
