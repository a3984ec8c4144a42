import type { UploadAnswered } from '#schemas/endpoints/uploads.js'
import type { Waiting } from '#schemas/events.js'
import type { Problem, Refused } from '#schemas/problem.js'
import type { BatchResult } from '../batches/outcome.js'
import { lagging } from '../limits/lag.js'
import { countOf, endedOtherwise, type PresentVerdict } from './present.js'

export type Answer = UploadAnswered
type BatchAnswer = Answer['batches'][number]
export type RecordError = NonNullable<BatchAnswer['data']['errors']>[number]
export type RecordWait = NonNullable<BatchAnswer['data']['waiting']>[number]

/** A request as its answer tells of it; `lines` are those of its records, where its body has lines. */
type Answered = { requestId: string; type: string; lines?: readonly number[] | undefined }

/** What the uploader is answered, in the spec's shape. */
export const answerOf = (request: Answered, results: readonly BatchResult[]): Answer => ({
  request_id: request.requestId,
  type: request.type,
  batches: results.map(({ batch, batchId, outcome }) => {
    const { status, message, error, ...records } = describe(outcome, request)
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
        ...records,
      },
    }
  }),
})

/** The HTTP status of the whole: that of its batches where they agree; 202 while nothing is wrong but some is undecided. */
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

type Description = Pick<BatchAnswer, 'status'> &
  Pick<BatchAnswer['data'], 'message' | 'error' | 'errors' | 'waiting' | 'waited'>

const describe = (outcome: BatchResult['outcome'], { requestId, lines }: Answered): Description => {
  if (outcome === 'pending') return { status: 202, message: 'not decided yet', error: null }
  if ('verdict' in outcome) return describeVerdict(outcome.verdict, lines)
  if (outcome.unknown === 'held back')
    return { status: 500, message: 'the batch was not submitted', error: lagging.message }
  const message =
    outcome.unknown === 'not published' ? 'the batch may not have been submitted' : 'no verdict came in time'
  return { status: 500, message, error: `outcome unknown; retrying is safe; GET /v1/requests/${requestId} tells` }
}

/** A batch in which something waits is in part decided, also where nothing was refused. */
const describeVerdict = (verdict: PresentVerdict, lines: Lines): Description => {
  const { accepted, refused, waiting = [], waited = [], first_index: first } = verdict
  const count = countOf(verdict)
  const [worst] = refused
  const named = {
    ...(worst && { errors: recordErrorsOf(refused, first, lines) }),
    ...(waiting.length > 0 && { waiting: recordWaitsOf(waiting, first, lines) }),
    ...(waited.length > 0 && {
      waited: waited.map((one) => ({ ...placed(one, first, lines), state: one.state, at: iso(one.at) })),
    }),
  }
  if (accepted === count) return { status: 200, message: `${records(count)} accepted`, error: null, ...named }
  const status = refused.length === count ? 400 : 207
  const message = `${accepted} of ${records(count)} accepted${alsoOf(verdict)}`
  if (!worst) return { status, message, error: null, ...named }
  const line = named.errors?.[0]?.line
  const place = `records[${first + worst.index}]${line === undefined ? '' : ` on line ${line}`}`
  const error = `${refused.length} of ${records(count)} refused; the first is ${place}: ${reasonOf(worst.problems)}`
  return { status, message, error, ...named }
}

/** What became of records that were neither accepted nor refused: ", 3 wait, 1 superseded". */
const alsoOf = (verdict: PresentVerdict): string => {
  const ended = endedOtherwise(verdict).map(({ state }) => state)
  const counts = [
    waitsText(verdict.waiting?.length ?? 0),
    ...(['superseded', 'cancelled'] as const).map((state) => {
      const count = ended.filter((one) => one === state).length
      return count > 0 ? `${count} ${state}` : ''
    }),
  ]
  return counts.map((text) => text && `, ${text}`).join('')
}

/** "3 wait"; nothing where none does. */
export const waitsText = (count: number): string => (count === 0 ? '' : count === 1 ? '1 waits' : `${count} wait`)

type Lines = readonly number[] | undefined

/** `first` is the place of the batch's first record. */
export const recordErrorsOf = (refused: readonly Refused[], first: number, lines: Lines): RecordError[] =>
  refused.map((one) => ({ ...placed(one, first, lines), problems: one.problems }))

export const recordWaitsOf = (waiting: readonly Waiting[], first: number, lines: Lines): RecordWait[] => {
  // Those of one request wait until the same moment.
  const untilTexts = new Map<number, string>()
  return waiting.map((one) => {
    const until = untilTexts.get(one.until) ?? iso(one.until)
    untilTexts.set(one.until, until)
    return Object.assign(placed(one, first, lines), { for: one.for, until })
  })
}

type Placed<Id> = { index: number; line?: number; id: Id }

const placed = <Id>({ index, id }: Placed<Id>, first: number, lines: Lines): Placed<Id> => {
  const line = lines?.[first + index]
  return line === undefined ? { index: first + index, id } : { index: first + index, line, id }
}

const iso = (time: number): string => new Date(time).toISOString()

const records = (count: number): string => (count === 1 ? '1 record' : `${count} records`)

const reasonOf = ([problem]: readonly Problem[]): string => problem?.message ?? 'no reason was given'
