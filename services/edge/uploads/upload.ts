import { keyConflict } from '#http/ids.js'
import { type RequestError, Unavailable } from '#http/request-error.js'
import { toNoted } from '#ledger/requests.js'
import { partitionOf } from '#platform/kafka/partitions.js'
import type { OutgoingBatch } from '#schemas/byte-path/byte-path.js'
import { hasVersions, type RecordType } from '#schemas/record.js'
import { type BatchLimits, cut, type RequestFacts, toBatches } from '../batches/batches.js'
import { type CutLayout, changing, cutAgain } from '../batches/cut-again.js'
import type { Entry } from '../batches/entries.js'
import { createCutByLane } from '../batches/lanes.js'
import type { BatchOutcome, BatchResult, Submit } from '../batches/outcome.js'
import { type Lag, lagging } from '../limits/lag.js'
import type { Note, RequestNotes } from '../requests/notes.js'
import type { PresentVerdict } from '../requests/present.js'
import { isDecided, resultsOfStored } from '../requests/stored-request.js'
import type { KnownRequest, VerdictStore } from '../requests/verdict-store.js'

/** The batches of one request; `keyed` where it came with an Idempotency-Key. */
export type Upload = {
  type: string
  orgId: string
  requestId: string
  bodySha256: Buffer
  submittedAt: number
  /** How many lanes it is cut by. */
  lanes: number
  keyed: boolean
  /** How many milliseconds its records wait for what they refer to; without it they are refused at once. */
  wait?: number | undefined
  /** The API key that it was sent with; null where that is not known. */
  keyId: string | null
  /** The trace that it belongs to, where one is recorded. */
  traceparent?: string | undefined
  batches: OutgoingBatch[]
  /** The batches where some of these were decided, cut by lanes that the system had before; undefined where none was. */
  cutAgain?: ((decided: ReadonlySet<string>) => OutgoingBatch[] | undefined) | undefined
}

/** What the batches of an upload are made of. */
export type UploadFacts = Pick<
  Upload,
  'orgId' | 'requestId' | 'bodySha256' | 'keyed' | 'wait' | 'keyId' | 'traceparent'
>

export type ToUpload = (entries: readonly Entry[], given: UploadFacts) => Upload

type ToUploadDeps = {
  layout: () => CutLayout
  batchLimits: BatchLimits
  lag: Pick<Lag, 'wayAround'>
  now: () => number
}

/** Cuts records of this type into the batches of one request. */
export const createToUpload = (type: RecordType, deps: ToUploadDeps): ToUpload => {
  const toBatchesOf = hasVersions(type) ? createCutToLanes(type, deps) : createCutToStream(type, deps)
  return (entries, given) => {
    const layout = deps.layout()
    // Whether its first try was decided, in the lanes of before, is known only once all of those is decided.
    if (given.keyed && layout.isDecidedBefore === false) throw new Unavailable(changing)
    const { generation } = layout
    return { type: type.type, ...toBatchesOf(entries, { ...given, submittedAt: deps.now(), generation }, layout) }
  }
}

type CutRequest = (
  entries: readonly Entry[],
  facts: UploadFacts & Pick<RequestFacts, 'submittedAt' | 'generation'>,
  layout: CutLayout,
) => Omit<Upload, 'type'>

const createCutToLanes = (type: RecordType, { batchLimits: limits }: Pick<ToUploadDeps, 'batchLimits'>): CutRequest => {
  const cutByLane = createCutByLane(type)
  return (entries, given, { lanes, earlierLanes = [] }) => {
    const facts = { ...given, lanes }
    const { slices, ...howCut } = cutByLane(entries, limits, lanes)
    const again = (decided: ReadonlySet<string>) =>
      cutAgain(cutByLane, entries, facts, { limits, earlierLanes }, decided)
    return {
      ...facts,
      batches: toBatches(slices, facts, howCut),
      ...(given.keyed && earlierLanes.length > 0 && { cutAgain: again }),
    }
  }
}

// Not BATCH_RECORDS and BATCH_BYTES, which an operator may change: a request that is sent again has to be cut as it was the first time, or
// its interactions would be recorded twice.
const streamLimits: BatchLimits = { records: 500, bytes: 512 * 1024 }

/**
 * Interactions replace none, so that all of a request may go to any one partition; their ids are given with their batches. With an
 * Idempotency-Key the same request comes to the same partition, whose verdicts tell what was decided of it.
 */
const createCutToStream =
  (type: RecordType, deps: Pick<ToUploadDeps, 'lag'>): CutRequest =>
  (entries, given, { submittedPartitions }) => {
    const facts = { ...given, lanes: 1 }
    const usual = partitionOf(given.requestId, submittedPartitions)
    const batches = toBatches(cut(entries, streamLimits), facts).map((batch) => ({
      ...batch,
      lane: usual,
      assigns: true,
    }))
    // One without a key is not sent again, and may be led around a partition that does not move.
    if (!given.keyed) for (const batch of batches) batch.lane = deps.lag.wayAround(type.type, batch) ?? usual
    return { ...facts, batches }
  }

export type UploadResult = { results: BatchResult[] } | { error: RequestError }

/**
 * Submits those of a request's batches that are not decided yet, and returns what became of all of them. With
 * `patience` it waits for verdicts only for that many milliseconds: batches that Kafka has by then are pending, and can
 * be looked up. `onWritten` is called where batches were submitted, once Kafka has all of them, or is known not to have.
 */
export const createUploader = (deps: {
  submit: Submit
  store: Pick<VerdictStore, 'ofRequest'>
  notes: Pick<RequestNotes, 'open'>
  lag: Pick<Lag, 'isBehind'>
  now: () => number
}) => {
  const submitNoted = async (
    upload: Upload,
    decided: Decided,
    note: Note,
    patience: number | undefined,
    onWritten: OnWritten,
  ): Promise<UploadResult> => {
    const missing = upload.batches.filter(({ batch_id }) => !decided.has(batch_id))
    const sent = missing.filter((batch) => !deps.lag.isBehind(upload.type, batch))
    if (sent.length === 0 && missing.length > 0) return { error: lagging }
    // Noted before anything is published: GET /v1/requests/{request_id}, to which the client is sent, has to know it.
    if (patience !== undefined && !(await note.save())) return { error: keyConflict }
    const outcomes = await deps.submit(upload.type, sent, {
      patience,
      traceparent: upload.traceparent,
      onWritten: (count) => {
        const written = new Set(sent.slice(0, count))
        const firstMissing = missing.find((batch) => !written.has(batch))
        note.written((firstMissing?.batch ?? upload.batches.length + 1) - 1)
        onWritten(firstMissing === undefined)
      },
    })
    // A batch that integrity has seen before gets its first verdict again, and that may be the verdict on another body.
    if (!outcomes.every((outcome) => 'unknown' in outcome || isOf(upload)(outcome.verdict)))
      return { error: keyConflict }

    const submitted = new Map(sent.map(({ batch_id }, i) => [batch_id, outcomes[i]]))
    return {
      results: upload.batches.map(({ batch, batch_id }) => ({
        batch,
        batchId: batch_id,
        outcome: outcomeOf(decided.get(batch_id), submitted.get(batch_id), patience !== undefined),
      })),
    }
  }

  return async (given: Upload, patience?: number, onWritten: OnWritten = () => {}): Promise<UploadResult> => {
    const before = await answeredBefore(given, deps)
    if ('error' in before || 'results' in before) return before
    const upload = asDecidedBefore(given, before.decided)
    const note = deps.notes.open(toNoted(upload, upload.batches))
    let result: UploadResult | undefined
    try {
      result = await submitNoted(upload, before.decided, note, patience, onWritten)
      return result
    } finally {
      note.close(result !== undefined && ('error' in result || isDecided(result.results)))
    }
  }
}

/** The upload as it was cut at its first try, where the lanes were changed since, and with what is left as it is cut now. */
const asDecidedBefore = (upload: Upload, decided: Decided): Upload => {
  if (!upload.cutAgain || decided.size === 0 || upload.batches.some(({ batch_id }) => decided.has(batch_id)))
    return upload
  const batches = upload.cutAgain(new Set(decided.keys()))
  // For the answer too, which is made from the upload that was given.
  return batches ? Object.assign(upload, { batches }) : upload
}

type OnWritten = (isAll: boolean) => void
type Decided = ReadonlyMap<string, PresentVerdict>

/** For a keyed request: its results if all batches are decided, otherwise the verdicts there are, by batch id. */
export const answeredBefore = async (
  upload: Upload,
  deps: { store: Pick<VerdictStore, 'ofRequest'>; now: () => number },
): Promise<UploadResult | { decided: Decided }> => {
  if (!upload.keyed) return { decided: new Map() }
  const stored = await deps.store.ofRequest(upload.orgId, upload.requestId)
  if (!isSame(stored, upload)) return { error: keyConflict }
  const results = resultsOfStored(stored, deps.now())
  if (isDecided(results)) return { results }
  return { decided: new Map(stored.verdicts.map((verdict) => [verdict.batch_id, verdict])) }
}

/** Whether the key was used with this body, or not yet. Verdicts settle that; without any, the note does. */
const isSame = ({ verdicts, noted }: KnownRequest, upload: Upload): boolean =>
  verdicts.length > 0 ? verdicts.every(isOf(upload)) : (noted?.bodySha256.equals(upload.bodySha256) ?? true)

const isOf =
  (upload: Upload) =>
  (verdict: PresentVerdict): boolean =>
    verdict.body_sha256.equals(upload.bodySha256) && !isConflict(verdict)

// Another body came first under this key, and was cut differently: then the ids of the batches tell nothing.
const isConflict = ({ refused }: PresentVerdict): boolean =>
  refused.some(({ problems }) => problems.some(({ code }) => code === 'idempotency_conflict'))

const outcomeOf = (
  stored: PresentVerdict | undefined,
  submitted: BatchOutcome = { unknown: 'held back' },
  isImpatient: boolean,
): BatchResult['outcome'] => {
  if (stored) return { verdict: stored }
  return isImpatient && 'unknown' in submitted && submitted.unknown === 'no verdict yet' ? 'pending' : submitted
}
