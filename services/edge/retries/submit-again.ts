import { createHash } from 'node:crypto'
import { Unavailable } from '#http/request-error.js'
import { requestIdOf } from '#rejections/plan-retry.js'
import { type AgainAnswer, type AgainRequest, type SubmitAgain, uploadBodyOf } from '#rejections/send-claimed.js'
import type { Catalogue } from '#schemas/catalogue.js'
import type { Layout } from '#schemas/derive/topics.js'
import { recordsIn } from '#schemas/events.js'
import type { RecordType } from '#schemas/record.js'
import { keyedInteractionId, keyedRequestId } from '#schemas/uuid.js'
import type { BatchLimits } from '../batches/batches.js'
import { createToEntry, toEntries } from '../batches/entries.js'
import type { Submit } from '../batches/outcome.js'
import type { EdgeFigures } from '../figures.js'
import type { Gather } from '../interactions/gather.js'
import type { Lag } from '../limits/lag.js'
import type { RequestNotes } from '../requests/notes.js'
import type { VerdictStore } from '../requests/verdict-store.js'
import { createToUpload, createUploader } from '../uploads/upload.js'

export type SubmitAgainDeps = {
  catalogue: Catalogue
  submit: Submit
  store: Pick<VerdictStore, 'ofRequest' | 'keyedInteraction'>
  notes: Pick<RequestNotes, 'open'>
  layout: () => Layout
  lag: Pick<Lag, 'isBehind' | 'wayAround'>
  batchLimits: BatchLimits
  gather: Gather
  figures: EdgeFigures
  now: () => number
}

/** Takes refused records in again, as an upload with an Idempotency-Key. Throws while the outcome is not known. */
export const createSubmitAgain = (deps: SubmitAgainDeps): SubmitAgain => {
  const { interaction } = deps.catalogue
  const interact = createInteractAgain(interaction, deps)
  const uploads = new Map(
    [...deps.catalogue.uploads.values()].map((type) => [type.type, createUploadAgain(type, deps)]),
  )
  return async (request) => {
    const again = request.type === interaction.type ? interact : uploads.get(request.type)
    return again ? again(request) : { notTaken: `there is no type ${request.type}` }
  }
}

const unknown = () => new Unavailable('the outcome is not known yet')
const sha256Of = (body: string): Buffer => createHash('sha256').update(body).digest()

const createUploadAgain = (type: RecordType, deps: SubmitAgainDeps): SubmitAgain => {
  const toEntry = createToEntry(type)
  const toUpload = createToUpload(type, deps)
  const upload = createUploader(deps)
  return async ({ org, idempotencyKey, records, keyId }) => {
    const requestId = requestIdOf({ org, type: type.type, retryId: idempotencyKey })
    const bodySha256 = sha256Of(uploadBodyOf(records))
    const parsed = records.map((text) => JSON.parse(text) as unknown)
    const entries = await toEntries(toEntry, parsed, (index) => () => Buffer.from(records[index] ?? ''))
    const given = toUpload(entries, { orgId: org, requestId, bodySha256, keyed: true, keyId })
    const answer = await upload(given)
    if ('error' in answer) {
      if (answer.error.status === 503) throw unknown()
      return { notTaken: answer.error.message }
    }
    answer.results.forEach(({ outcome }, i) => {
      const batch = given.batches[i]
      if (batch) deps.figures.countRecords(type.type, outcome, recordsIn(batch))
    })
    const refused = answer.results.flatMap(({ outcome }): number[] => {
      if (outcome === 'pending' || 'unknown' in outcome) throw unknown()
      return outcome.verdict.refused.map(({ index }) => outcome.verdict.first_index + index)
    })
    return { requestId, refused }
  }
}

const createInteractAgain = (type: RecordType, deps: SubmitAgainDeps): SubmitAgain => {
  const toEntry = createToEntry(type)
  return async ({ org, idempotencyKey, records: [text = 'null'], keyId }: AgainRequest): Promise<AgainAnswer> => {
    const bodySha256 = sha256Of(text)
    const requestId = keyedRequestId(org, '/user-interactions', idempotencyKey)
    const id = keyedInteractionId(org, idempotencyKey)
    if (await deps.store.keyedInteraction(org, id)) return { requestId, refused: [] }
    const entry = toEntry(JSON.parse(text), () => Buffer.from(text), { interaction_id: id, recorded_at: deps.now() })
    const isRefused = 'refusal' in entry
    const given = isRefused ? entry : { ...entry, keyedSha256: bodySha256 }
    const keyedId = isRefused ? null : id
    const { outcome } = deps.gather(org, { entry: given, bodySha256, keyedRequestId: requestId, keyedId, keyId })
    const decided = await outcome
    if (decided === 'unknown') throw unknown()
    return { requestId, refused: decided !== 'accepted' && 'problems' in decided ? [0] : [] }
  }
}
