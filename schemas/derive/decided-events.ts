import type { Decision } from '../decide.js'
import type { AcceptedEvent, RejectedEvent, SubmittedBatch, SubmittedRecord } from '../events.js'
import type { Refused } from '../problem.js'
import type { RecordType } from '../record.js'
import { interactionRequestId } from '../uuid.js'
import { versionOf } from '../version.js'
import { createRecordWriter } from './written-record.js'

/** A decision, with the offset in the submitted log of the message that was decided. */
export type PlacedVerdict = Decision & { submitted_offset: number }

/** The events of one decided batch, always the same from the same batch and verdict. */
export const createEventsOf = (type: RecordType) => {
  const writeRecord = createRecordWriter(type)

  const accepted = (batch: SubmittedBatch, verdict: PlacedVerdict): AcceptedEvent[] => {
    const requestIdAt = requestIdsOf(batch)
    return newlyAccepted(batch, verdict).map(({ index, keyed_sha256: _, ...values }) => ({
      org_id: batch.org_id,
      request_id: requestIdAt(index),
      batch_id: batch.batch_id,
      accepted_at: verdict.decided_at,
      version: versionOf(verdict.submitted_offset, index),
      ...(values as Omit<AcceptedEvent, 'index'>),
    }))
  }

  const rejected = (batch: SubmittedBatch, verdict: PlacedVerdict): RejectedEvent[] => {
    if (verdict.refused.length === 0) return []
    const requestIdAt = requestIdsOf(batch)
    const byEdge = new Map(batch.refusals.map((refusal) => [refusal.index, refusal]))
    const records = new Map(batch.records.map((record) => [record.index, record]))
    return verdict.refused.map(({ index, id, problems }) => ({
      org_id: batch.org_id,
      request_id: requestIdAt(index),
      batch_id: batch.batch_id,
      rejected_at: verdict.decided_at,
      version: versionOf(verdict.submitted_offset, index),
      type: type.type,
      index: batch.first_index + index,
      id,
      problems,
      record: byEdge.get(index)?.record ?? JSON.stringify(writeRecord(records.get(index) ?? {})),
      truncated: byEdge.get(index)?.truncated ?? false,
    }))
  }

  return { accepted, rejected }
}

/** The request that the record at a place in the batch came in. */
export const requestIdsOf = (batch: SubmittedBatch): ((index: number) => string) => {
  if (!batch.gathered) return () => batch.request_id
  const keyed = new Map(batch.keyed_requests?.map(({ index, request_id }) => [index, request_id]))
  return (index) => keyed.get(index) ?? interactionRequestId(batch.request_id, index)
}

type Outcome = { refused: readonly Refused[]; repeated: readonly number[] }

/** The records of a batch that a verdict accepts and that were not taken before. */
export const newlyAccepted = (batch: SubmittedBatch, verdict: Outcome): SubmittedRecord[] => {
  const isNew = createIsNew(verdict)
  return batch.records.filter(({ index }) => isNew(index))
}

/** Whether a verdict accepts the record at a place in the batch, and it was not taken before. */
export const createIsNew = ({ refused, repeated }: Outcome): ((index: number) => boolean) => {
  if (refused.length === 0 && repeated.length === 0) return () => true
  const left = new Set([...refused.map(({ index }) => index), ...repeated])
  return (index) => !left.has(index)
}
