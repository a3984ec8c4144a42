import { type FieldChange, type RejectionId, rejectionName, settleRetries } from '#ledger/retries/claims.js'
import type { Pool } from '#platform/postgres/postgres.js'
import { changedRecord } from './changed-record.js'
import type { Job } from './plan-retry.js'

/** Refused records that go in one request, as JSON, with its Idempotency-Key. `keyId` is null where an operator ordered it. */
export type AgainRequest = {
  idempotencyKey: string
  org: string
  type: string
  records: readonly string[]
  keyId: string | null
}

/** What became of it: decided, with the places of the records that were refused again; or not taken, and why. */
export type AgainAnswer = { requestId: string; refused: readonly number[] } | { notTaken: string }

/** Sends a request as any careful client does, and resolves once its outcome is known. */
export type SubmitAgain = (request: AgainRequest) => Promise<AgainAnswer>

/** The one way in which claimed rejections are sent again: the same claims give the same request, which is decided once. */
export const sendClaimed = async (
  deps: { pool: Pool; submit: SubmitAgain },
  { retryId, org, type, wanted, keyId, change }: Job & { keyId: string | null; change: FieldChange | null },
  records: ReadonlyMap<string, string>,
): Promise<{ accepted: number; refused: number } | Extract<AgainAnswer, { notTaken: string }>> => {
  const sent = wanted.flatMap((each) => records.get(rejectionName(each)) ?? [])
  const texts = change ? sent.map((text) => changedRecord(text, change)) : sent
  if (texts.length < wanted.length) throw new Error('a request is sent with all of its records, or not at all')
  const answer = await deps.submit({ idempotencyKey: retryId, org, type, records: texts, keyId })
  if ('notTaken' in answer) return answer
  const refused = new Set(answer.refused)
  const outcomeOf = (each: RejectionId, place: number) => ({
    batchId: each.batchId,
    index: each.index,
    outcome: refused.has(place) ? ('refused' as const) : ('accepted' as const),
  })
  await settleRetries(deps.pool, answer.requestId, wanted.map(outcomeOf))
  return { accepted: wanted.length - refused.size, refused: refused.size }
}

/** The body of an upload of these records: the same records always give the same bytes. */
export const uploadBodyOf = (records: readonly string[]): string => `{"records":[${records.join(',')}]}`
