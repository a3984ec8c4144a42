import type { PlacedVerdict } from '#schemas/derive/decided-events.js'
import type { SubmittedBatch } from '#schemas/events.js'
import type { Decision } from '../integrity/decide.js'

/** A decision as it is kept, with the place in the submitted log that it was taken on. */
export type StoredVerdict = PlacedVerdict & { topic: string; partition: number }

export type Place = { topic: string; partition: number; offset: number }

export const toStoredVerdict = (
  batch: SubmittedBatch,
  decision: Decision,
  at: Place & { type: string; decidedAt: number },
): StoredVerdict => ({
  org_id: batch.org_id,
  request_id: batch.request_id,
  batch_id: batch.batch_id,
  type: at.type,
  batch: batch.batch,
  batches: batch.batches,
  first_index: batch.first_index,
  body_sha256: batch.body_sha256,
  decided_at: at.decidedAt,
  accepted: decision.accepted,
  refused: decision.refused,
  repeated: decision.repeated,
  topic: at.topic,
  partition: at.partition,
  submitted_offset: at.offset,
})
