import type { SubmittedBatch, VerdictEvent } from '#schemas/events.js'
import type { Values } from '#schemas/field.js'
import type { Refused } from '#schemas/problem.js'
import { createReferencesOf, type RecordType, type Reference } from '#schemas/record.js'
import { unknownReferences } from '#schemas/unknown-reference.js'
import type { VerdictStore } from '../requests/verdict-store.js'
import type { FindKnown } from './known-entities.js'
import { answeredBefore, type Upload, type UploadResult } from './upload.js'

/** What an upload of this type would be answered now; nothing is published, kept or used up by it. */
export const createDryRun = (
  type: RecordType,
  deps: { findKnown: FindKnown; store: Pick<VerdictStore, 'ofRequest'>; now: () => number },
) => {
  const referencesOf = createReferencesOf(type)

  /** As integrity would decide it. */
  const verdictOn = (batch: SubmittedBatch, isKnown: (reference: Reference) => boolean): VerdictEvent => {
    const { org_id, request_id, batch_id, batches, first_index, body_sha256 } = batch
    const refused: Refused[] = batch.refusals.map(({ index, id, problems }) => ({ index, id, problems }))
    for (const record of batch.records) {
      const problems = unknownReferences(referencesOf(record as Values), isKnown)
      if (problems.length > 0) refused.push({ index: record.index, id: String(record[type.id]), problems })
    }
    refused.sort((a, b) => a.index - b.index)
    return {
      org_id,
      request_id,
      batch_id,
      type: type.type,
      batch: batch.batch,
      batches,
      first_index,
      body_sha256,
      decided_at: deps.now(),
      accepted: batch.records.length + batch.refusals.length - refused.length,
      refused,
    }
  }

  return async (upload: Upload): Promise<UploadResult> => {
    const before = await answeredBefore(upload, deps)
    if ('error' in before || 'parts' in before) return before
    const references = upload.batches.flatMap(({ records }) =>
      records.flatMap((record) => referencesOf(record as Values)),
    )
    // Also where there are none: without Postgres the upload would not be decided either.
    const isKnown = await deps.findKnown(upload.orgId, references)
    return {
      parts: upload.batches.map((batch) => ({
        batch: batch.batch,
        batchId: batch.batch_id,
        outcome: { verdict: verdictOn(batch, isKnown) },
      })),
    }
  }
}
