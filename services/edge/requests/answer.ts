import type { VerdictEvent } from '#schemas/events.js'
import type { Problem, Refused } from '#schemas/problem.js'
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
/** `line`: where the record begins in a body that has lines, from 1. */
export type RecordError = { index: number; line?: number; id: string | null; problems: Problem[] }

/** A request as its answer tells of it; `lines` are those of its records, where its body has lines. */
type Answered = { requestId: string; type: string; lines?: readonly number[] | undefined }

/** What the uploader is answered, in the spec's shape. */
export const answerOf = (request: Answered, results: readonly BatchResult[]): Answer => ({
  request_id: request.requestId,
  type: request.type,
  batches: results.map(({ batch, batchId, outcome }) => {
    const { status, message, error, errors } = describe(outcome, request)
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

/** The status of a batch. */
export const statusOf = (outcome: BatchResult['outcome']): BatchAnswer['status'] =>
  describe(outcome, { requestId: '', type: '' }).status

const statusWords = { 200: 'success', 202: 'pending', 207: 'partial', 400: 'error', 500: 'error' } as const

type Description = Pick<BatchAnswer, 'status'> & Pick<BatchAnswer['data'], 'message' | 'error' | 'errors'>

const describe = (outcome: BatchResult['outcome'], { requestId, lines }: Answered): Description => {
  if (outcome === 'pending') return { status: 202, message: 'not decided yet', error: null }
  if ('verdict' in outcome) return describeVerdict(outcome.verdict, lines)
  const message =
    outcome.unknown === 'not published' ? 'the batch may not have been submitted' : 'no verdict came in time'
  return { status: 500, message, error: `outcome unknown; retrying is safe; GET /v1/requests/${requestId} tells` }
}

const describeVerdict = (
  { accepted, refused, first_index }: VerdictEvent,
  lines: readonly number[] | undefined,
): Description => {
  const [first] = refused
  const count = accepted + refused.length
  if (!first) return { status: 200, message: `${records(count)} accepted`, error: null }
  const errors = recordErrorsOf(refused, first_index, lines)
  const place = `records[${first_index + first.index}]${errors[0]?.line === undefined ? '' : ` on line ${errors[0].line}`}`
  return {
    status: accepted === 0 ? 400 : 207,
    message: `${accepted} of ${records(count)} accepted`,
    error: `${refused.length} of ${records(count)} refused; the first is ${place}: ${reasonOf(first.problems)}`,
    errors,
  }
}

/** `first` is the place of the batch's first record. */
export const recordErrorsOf = (
  refused: readonly Refused[],
  first: number,
  lines: readonly number[] | undefined,
): RecordError[] =>
  refused.map(({ index, id, problems }) => {
    const line = lines?.[first + index]
    return { index: first + index, ...(line !== undefined && { line }), id, problems }
  })

const records = (count: number): string => (count === 1 ? '1 record' : `${count} records`)

const reasonOf = ([problem]: readonly Problem[]): string => problem?.message ?? 'no reason was given'
