import type { VerdictEvent } from '#schemas/events.js'
import type { Problem } from '#schemas/problem.js'
import type { Outcome } from '../stream/submit.js'

/** One batch of a request and what became of it. Its id is null where others of the request are all that is known. */
export type Part = { batch: number; batchId: string | null; outcome: Outcome | 'pending' }

export type RecordError = { index: number; id: string | null; problems: Problem[] }
export type BatchAnswer = {
  batch: number
  status: 200 | 202 | 207 | 400 | 500
  data: {
    status: 'success' | 'partial' | 'error' | 'pending'
    type: string
    message: string
    request_id: string
    batch_id: string | null
    error: string | null
    errors?: RecordError[]
  }
}
export type Answer = { request_id: string; type: string; batches: BatchAnswer[] }

/** What the uploader is told, in the spec's shape. */
export const answerOf = (request: { requestId: string; type: string }, parts: readonly Part[]): Answer => ({
  request_id: request.requestId,
  type: request.type,
  batches: parts.map((part) => {
    const { status, message, error, errors } = resultOf(part.outcome, request.requestId)
    return {
      batch: part.batch,
      status,
      data: {
        status: statusWords[status],
        type: request.type,
        message,
        request_id: request.requestId,
        batch_id: part.batchId,
        error,
        ...(errors && { errors }),
      },
    }
  }),
})

/** The HTTP status of the whole: that of its batches where they agree; 202 while nothing is wrong but not all is decided. */
export const overallStatus = (batches: readonly Pick<BatchAnswer, 'status'>[]): number => {
  const [first] = batches
  const has = (wanted: number) => batches.some(({ status }) => status === wanted)
  if (has(202) && !has(500)) return 202
  return first && batches.every(({ status }) => status === first.status) ? first.status : 207
}

export const unknownOutcome = (requestId: string): string =>
  `outcome unknown; retrying is safe; GET /v1/requests/${requestId} tells`

const statusWords = { 200: 'success', 202: 'pending', 207: 'partial', 400: 'error', 500: 'error' } as const

type Result = Pick<BatchAnswer, 'status'> & Pick<BatchAnswer['data'], 'message' | 'error' | 'errors'>

const resultOf = (outcome: Part['outcome'], requestId: string): Result => {
  if (outcome === 'pending') return { status: 202, message: 'not decided yet', error: null }
  if ('verdict' in outcome) return decided(outcome.verdict)
  return outcome.unknown === 'not published'
    ? { status: 500, message: 'the batch may not have been submitted', error: unknownOutcome(requestId) }
    : { status: 500, message: 'no verdict came in time', error: unknownOutcome(requestId) }
}

const decided = ({ accepted, refused, first_index }: VerdictEvent): Result => {
  const [first] = refused
  const count = accepted + refused.length
  if (!first) return { status: 200, message: `${records(count)} accepted`, error: null }
  const at = first_index + first.index
  return {
    status: accepted === 0 ? 400 : 207,
    message: `${accepted} of ${records(count)} accepted`,
    error: `${refused.length} of ${records(count)} refused; the first is records[${at}]: ${reasonOf(first.problems)}`,
    errors: refused.map(({ index, id, problems }) => ({ index: first_index + index, id, problems })),
  }
}

const records = (count: number): string => (count === 1 ? '1 record' : `${count} records`)

const reasonOf = ([problem]: readonly Problem[]): string => problem?.message ?? 'no reason was given'
