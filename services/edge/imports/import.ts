import { newId } from '#http/ids.js'
import { type RequestError, toRequestError } from '#http/request-error.js'
import type { OutgoingBatch } from '#schemas/byte-path/byte-path.js'
import type { importBatch, importSummary } from '#schemas/endpoints/uploads.js'
import type { ValueOf } from '#schemas/endpoints/values.js'
import { recordsIn } from '#schemas/events.js'
import type { RecordType } from '#schemas/record.js'
import { derivedId } from '#schemas/uuid.js'
import type { BatchResult } from '../batches/outcome.js'
import { recordErrorsOf, recordWaitsOf, statusOf, waitsText } from '../requests/answer.js'
import { countOf, type PresentVerdict } from '../requests/present.js'
import type { Upload, UploadFacts, UploadResult } from '../uploads/upload.js'
import type { ImportChunk } from './chunks.js'
import { ImportEnded } from './pieces.js'

/** One line of the answer for each batch, and at last one for the whole. */
export type BatchLine = ValueOf<typeof importBatch>
export type SummaryLine = ValueOf<typeof importSummary>

// One chunk is decided while the next is written and another read. More would make nothing faster.
const mostInFlight = 3

export type ImportDeps = {
  type: RecordType
  requestId: string
  orgId: string
  keyId: string | null
  /** The trace that it belongs to, where one is recorded. */
  traceparent?: string | undefined
  keyed: boolean
  wait: number | undefined
  nextChunk: () => Promise<ImportChunk | undefined>
  /** Waits until the key may send as much. */
  mayTake: (chunk: ImportChunk) => Promise<void>
  toUpload: (entries: ImportChunk['entries'], facts: UploadFacts) => Upload
  submit: (upload: Upload, onWritten: (isAll: boolean) => void) => Promise<UploadResult>
  /** Called for each batch whose outcome is known. */
  onBatch: (outcome: BatchResult['outcome'], records: number) => void
  /** Called for what is our own fault. */
  onFailure: (error: Error) => void
}

/**
 * Submits the chunks of an import one after another, and yields what becomes of them, in the order of the body. A chunk is
 * written only when Kafka has all of the one before: else a record that comes in both could end as it was in the first.
 * Whatever goes wrong, what was submitted is waited for, and the last line says how to go on.
 */
export async function* runImport(deps: ImportDeps): AsyncGenerator<BatchLine | SummaryLine> {
  const inFlight: Promise<Decided>[] = []
  const sum: Sum = { records: 0, accepted: 0, refused: 0, waiting: 0, batches: 0, decidedTo: 0 }
  let reading: Promise<ImportChunk | string | undefined> | undefined
  let isWritten: Promise<boolean> = Promise.resolve(true)
  let isOver = false
  let fault: string | undefined
  const read = (): Promise<ImportChunk | string | undefined> => deps.nextChunk().catch((error) => reasonOf(error, deps))

  try {
    for (;;) {
      if (!isOver && !reading && inFlight.length < mostInFlight) reading = read()
      const [oldest] = inFlight
      if (!reading && !oldest) break
      const next = await Promise.race([
        ...(oldest ? [oldest.then((decided) => ({ decided }))] : []),
        ...(reading ? [reading.then((chunk) => ({ chunk }))] : []),
      ])
      if ('chunk' in next) {
        reading = undefined
        if (typeof next.chunk === 'object') {
          const submission = submitChunk(next.chunk, isWritten, deps)
          isWritten = submission.isWritten
          inFlight.push(submission.decided)
        } else {
          isOver = true
          fault ??= next.chunk
        }
        continue
      }
      inFlight.shift()
      const { decided } = next
      for (const line of linesOf(decided, sum.batches)) {
        sum.batches++
        sum.accepted += line.accepted
        sum.refused += line.refused.length
        sum.waiting += line.waiting.length
        yield line
      }
      if (decided.results.length > 0) sum.records += decided.chunk.entries.length
      if (decided.failure === undefined) sum.decidedTo = decided.chunk.lines.at(-1) ?? 0
      else {
        isOver = true
        fault ??= decided.failure
      }
    }
    yield summaryOf(deps, sum, fault)
  } finally {
    // Where the answer is no longer read.
    const chunk = await reading
    if (typeof chunk === 'object') chunk.share.release()
  }
}

type Sum = Record<'records' | 'accepted' | 'refused' | 'waiting' | 'batches' | 'decidedTo', number>
/** What became of a chunk; `failure` says why nothing can follow it. */
type Decided = { chunk: ImportChunk; upload?: Upload; results: readonly BatchResult[]; failure?: string }

/** `isWritten` tells whether Kafka has all of the chunk; nothing rejects. */
const submitChunk = (
  chunk: ImportChunk,
  isBeforeWritten: Promise<boolean>,
  deps: ImportDeps,
): { decided: Promise<Decided>; isWritten: Promise<boolean> } => {
  let tellWritten: (isAll: boolean) => void = () => {}
  const isWritten = new Promise<boolean>((resolve) => {
    tellWritten = resolve
  })
  const submit = async (): Promise<Decided> => {
    if (!(await isBeforeWritten)) return { chunk, results: [], failure: 'what comes before was not written' }
    await deps.mayTake(chunk)
    const upload = deps.toUpload(chunk.entries, {
      orgId: deps.orgId,
      requestId: deps.keyed ? derivedId('chunk', deps.requestId, String(chunk.number)) : newId(),
      bodySha256: chunk.sha256,
      keyed: deps.keyed,
      wait: deps.wait,
      keyId: deps.keyId,
      traceparent: deps.traceparent,
    })
    const answered = await deps.submit(upload, tellWritten)
    if ('error' in answered) return { chunk, results: [], failure: describeError(answered.error, chunk) }
    const { results } = answered
    for (const { outcome, batchId } of results) deps.onBatch(outcome, recordsOf(outcome, batchOf(upload, batchId)))
    tellWritten(!results.some(({ outcome }) => isUnknown(outcome) && outcome.unknown !== 'no verdict yet'))
    const isDecided = results.every(({ outcome }) => outcome !== 'pending' && !isUnknown(outcome))
    return { chunk, upload, results, ...(!isDecided && { failure: 'the outcome of some batches is not known' }) }
  }
  const decided = submit()
    .catch((error): Decided => ({ chunk, results: [], failure: reasonOf(error, deps) }))
    .finally(() => {
      tellWritten(false)
      chunk.share.release()
    })
  return { decided, isWritten }
}

const isUnknown = (outcome: BatchResult['outcome']): outcome is Extract<BatchResult['outcome'], { unknown: string }> =>
  outcome !== 'pending' && 'unknown' in outcome

const verdictIn = (outcome: BatchResult['outcome']): PresentVerdict | undefined =>
  outcome !== 'pending' && 'verdict' in outcome ? outcome.verdict : undefined

/** Undefined where the chunk was decided in batches of other sizes, before BATCH_RECORDS was changed. */
const batchOf = ({ batches }: Upload, batchId: string | null): OutgoingBatch | undefined =>
  batches.find((batch) => batch.batch_id === batchId)

const recordsOf = (outcome: BatchResult['outcome'], batch: OutgoingBatch | undefined): number => {
  const verdict = verdictIn(outcome)
  return verdict ? countOf(verdict) : batch ? recordsIn(batch) : 0
}

const describeError = ({ status, message }: RequestError, { lines }: ImportChunk): string =>
  status === 409 ? `from line ${lines[0]} on, this Idempotency-Key was used with another body; use a new key` : message

/** Why an import ends; an error of our own is logged instead of shown. */
const reasonOf = (error: unknown, deps: Pick<ImportDeps, 'onFailure'>): string => {
  if (error instanceof ImportEnded) return error.message
  const { status, message } = toRequestError(error)
  if (status === 500) deps.onFailure(error as Error)
  return message
}

const linesOf = ({ chunk, upload, results }: Decided, before: number): BatchLine[] => {
  const inImport = <T extends { index: number }>(one: T): T => ({ ...one, index: chunk.first + one.index })
  return results.map(({ outcome, batchId }, i) => {
    const verdict = verdictIn(outcome)
    const batch = upload && batchOf(upload, batchId)
    const first = verdict?.first_index ?? batch?.first_index ?? 0
    const places = batch
      ? [...batch.records, ...batch.refusals].map(({ index }) => first + index)
      : [first, first + recordsOf(outcome, batch) - 1]
    const lines = places.map((place) => chunk.lines[place] ?? 0)
    return {
      batch: before + i + 1,
      // An import waits for each verdict: none is pending.
      status: statusOf(outcome) as BatchLine['status'],
      request_id: upload?.requestId ?? '',
      batch_id: batchId,
      from_line: lines.reduce((least, line) => Math.min(least, line), lines[0] ?? 0),
      to_line: lines.reduce((most, line) => Math.max(most, line), 0),
      accepted: verdict?.accepted ?? 0,
      refused: recordErrorsOf(verdict?.refused ?? [], first, chunk.lines).map(inImport),
      waiting: recordWaitsOf(verdict?.waiting ?? [], first, chunk.lines).map(inImport),
    }
  })
}

const summaryOf = (
  { requestId, type, keyed }: ImportDeps,
  { decidedTo, ...counts }: Sum,
  fault: string | undefined,
): SummaryLine => {
  const { records, accepted, waiting } = counts
  const isConflict = fault?.includes('Idempotency-Key')
  const goOn = keyed
    ? 'send the same body again with the same Idempotency-Key: what is decided is not decided again'
    : `what is decided is kept: send the rest, ${decidedTo === 0 ? 'which is all of it' : `after the record on line ${decidedTo}`}`
  const message =
    fault === undefined
      ? [`${accepted} of ${records === 1 ? '1 record' : `${records} records`} accepted`, waitsText(waiting)]
          .filter(Boolean)
          .join(', ')
      : isConflict
        ? fault
        : `${fault.replace(/; retrying is safe$/, '')}; ${goOn}`
  return { summary: { request_id: requestId, type: type.type, ...counts, complete: fault === undefined, message } }
}
