import type { VerdictEvent } from '#schemas/events.js'
import type { Problem } from '#schemas/problem.js'
import type { BatchResult } from '../batches/outcome.js'

export type Answer = { request_id: string; type: string; batches: BatchAnswer[] }
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
export type RecordError = { index: number; id: string | null; problems: Problem[] }

/** What the uploader is answered, in the spec's shape. */
export const answerOf = (request: { requestId: string; type: string }, results: readonly BatchResult[]): Answer => ({
  request_id: request.requestId,
  type: request.type,
  batches: results.map(({ batch, batchId, outcome }) => {
    const { status, message, error, errors } = describe(outcome, request.requestId)
    return {
      batch,
      status,
      data: {
        status: statusWords[status],
        type: request.type,
        message,
        request_id: request.requestId,
        batch_id: batchId,
        error,
        ...(errors && { errors }),
      },
    }
  }),
})

/**
 * The HTTP status of the whole: that of its batches where they agree; 202 while nothing is wrong but not all is
 * decided.
 */
export const overallStatus = (batches: readonly Pick<BatchAnswer, 'status'>[]): number => {
  const [first] = batches
  const has = (wanted: number) => batches.some(({ status }) => status === wanted)
  if (has(202) && !has(500)) return 202
  return first && batches.every(({ status }) => status === first.status) ? first.status : 207
}

const statusWords = { 200: 'success', 202: 'pending', 207: 'partial', 400: 'error', 500: 'error' } as const

type Description = Pick<BatchAnswer, 'status'> & Pick<BatchAnswer['data'], 'message' | 'error' | 'errors'>

const describe = (outcome: BatchResult['outcome'], requestId: string): Description => {
  if (outcome === 'pending') return { status: 202, message: 'not decided yet', error: null }
  if ('verdict' in outcome) return describeVerdict(outcome.verdict)
  const message =
    outcome.unknown === 'not published' ? 'the batch may not have been submitted' : 'no verdict came in time'
  return { status: 500, message, error: `outcome unknown; retrying is safe; GET /v1/requests/${requestId} tells` }
}

const describeVerdict = ({ accepted, refused, first_index }: VerdictEvent): Description => {
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
