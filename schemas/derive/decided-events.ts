import { type Decision, isOfErased, resumedOf } from '../decide.js'
import type { AcceptedEvent, RejectedEvent, SubmittedBatch, SubmittedRecord } from '../events.js'
import { asJson, writeJson } from '../json-text.js'
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
    const originAt = originsOf(batch)
    return newlyAccepted(batch, verdict).map(({ index, keyed_sha256: _, ...values }) => {
      const { requestId, batchId } = originAt(index)
      return {
        org_id: batch.org_id,
        request_id: requestId,
        batch_id: batchId,
        accepted_at: verdict.decided_at,
        version: versionOf(verdict.submitted_offset, index),
        ...(values as Omit<AcceptedEvent, 'index'>),
      }
    })
  }

  const rejected = (batch: SubmittedBatch, verdict: PlacedVerdict): RejectedEvent[] => {
    if (verdict.refused.length === 0) return []
    const originAt = originsOf(batch)
    const byEdge = new Map(batch.refusals.map((refusal) => [refusal.index, refusal]))
    const records = new Map(batch.records.map((record) => [record.index, record]))
    return verdict.refused.map(({ index, id, problems }) => {
      const { requestId, batchId, requestIndex = batch.first_index + index } = originAt(index)
      return {
        org_id: batch.org_id,
        request_id: requestId,
        batch_id: batchId,
        rejected_at: verdict.decided_at,
        version: versionOf(verdict.submitted_offset, index),
        type: type.type,
        index: requestIndex,
        id,
        problems,
        ...(isOfErased({ problems })
          ? { record: '{}', truncated: false }
          : {
              record: byEdge.get(index)?.record ?? writeExactly(writeRecord(records.get(index) ?? {})),
              truncated: byEdge.get(index)?.truncated ?? false,
            }),
      }
    })
  }

  return { accepted, rejected }
}

/** JSON of a record. JSON.stringify makes 0 of -0. */
const writeExactly = (record: Record<string, unknown>): string =>
  writeJson(
    Object.fromEntries(
      Object.entries(record).map(([name, value]) => [name, Object.is(value, -0) ? asJson('-0') : value]),
    ),
  )

/** Where a record was submitted. `requestIndex` is said only of one that waited: of others its place in this batch tells it. */
export type SubmittedAs = { requestId: string; batchId: string; requestIndex?: number }

/** Where the record at a place in the batch was first submitted: the request it came in, and the batch. */
export const originsOf = (batch: SubmittedBatch): ((index: number) => SubmittedAs) => {
  const { request_id: requestId, batch_id: batchId } = batch
  const own: SubmittedAs = { requestId, batchId }
  const resumedAt = resumedOf(batch)
  if (resumedAt) {
    return (index) => {
      const from = resumedAt.get(index)
      return from ? { requestId: from.request_id, batchId: from.batch_id, requestIndex: from.request_index } : own
    }
  }
  if (!batch.gathered) return () => own
  const keyed = new Map(batch.keyed_requests?.map(({ index, request_id }) => [index, request_id]))
  return (index) => ({ requestId: keyed.get(index) ?? interactionRequestId(requestId, index), batchId })
}

type DecidedIndexes = Pick<Decision, 'refused' | 'repeated' | 'waiting' | 'gone'>

/** The records of a batch that a verdict accepts and that were not taken before. */
export const newlyAccepted = (batch: SubmittedBatch, verdict: DecidedIndexes): SubmittedRecord[] => {
  const isNew = createIsNew(verdict)
  return batch.records.filter(({ index }) => isNew(index))
}

/** Whether a verdict accepts the record at a place in the batch, and it was not taken before. */
export const createIsNew = ({
  refused,
  repeated,
  waiting = [],
  gone = [],
}: DecidedIndexes): ((index: number) => boolean) => {
  if (refused.length === 0 && repeated.length === 0 && waiting.length === 0 && gone.length === 0) return () => true
  const left = new Set([...refused.map(indexOf), ...waiting.map(indexOf), ...repeated, ...gone])
  return (index) => !left.has(index)
}

const indexOf = ({ index }: { index: number }): number => index
