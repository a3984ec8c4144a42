import type { SubmittedBatch, VerdictEvent } from './events.js'
import type { Values } from './field.js'
import type { Problem, Refused } from './problem.js'
import { createReferencesOf, type RecordType, type Reference } from './record.js'

/** What a verdict depends on besides the batch itself. */
export type World = {
  isKnown: (reference: Reference) => boolean
  /** SHA-256 of the body that a keyed record of this id was taken with before; undefined where it was not. */
  takenBefore: (id: string) => Buffer | undefined
  /** SHA-256 of the body that this request was first decided with; undefined where nothing of it was decided before. */
  bodyOf: (requestId: string) => Buffer | undefined
}

/** `repeated` are the indexes of keyed records that were taken before: accepted, but not published again. */
export type Decision = VerdictEvent & { repeated: number[] }

export type Decide = (batch: SubmittedBatch, world: World, decidedAt: number) => Decision

/**
 * Decides on a batch: the one place where verdicts come from. Integrity decides with it, a dry run answers with it, and the
 * model in test/model runs it. No clock and no client: the same batch and the same world always give the same verdict.
 */
export const createDecide = (type: RecordType): Decide => {
  const referencesOf = createReferencesOf(type)

  return (batch, world, decidedAt) => {
    const refused: Refused[] = batch.refusals.map(({ index, id, problems }) => ({ index, id, problems }))
    const repeated: number[] = []
    const takenNow = new Map<string, Buffer>()
    let accepted = 0
    const isAnotherBody = !(world.bodyOf(batch.request_id)?.equals(batch.body_sha256) ?? true)

    for (const record of batch.records) {
      const id = String(record[type.id])
      if (isAnotherBody) {
        refused.push({ index: record.index, id, problems: [anotherBody] })
        continue
      }
      const before = record.keyed_sha256 ? (takenNow.get(id) ?? world.takenBefore(id)) : undefined
      if (before) {
        if (!before.equals(record.keyed_sha256 ?? Buffer.alloc(0))) {
          refused.push({ index: record.index, id, problems: [idempotencyConflict] })
          continue
        }
        repeated.push(record.index)
      } else {
        const missing = referencesOf(record as Values).filter((reference) => !world.isKnown(reference))
        if (missing.length > 0) {
          refused.push({ index: record.index, id, problems: missing.map(unknownReference) })
          continue
        }
        if (record.keyed_sha256) takenNow.set(id, record.keyed_sha256)
      }
      accepted++
    }
    return {
      org_id: batch.org_id,
      request_id: batch.request_id,
      batch_id: batch.batch_id,
      type: type.type,
      batch: batch.batch,
      batches: batch.batches,
      first_index: batch.first_index,
      body_sha256: batch.body_sha256,
      decided_at: decidedAt,
      accepted,
      refused: refused.sort((a, b) => a.index - b.index),
      repeated,
    }
  }
}

const unknownReference = ({ field, type, id }: Reference): Problem => ({
  field,
  code: 'unknown_reference',
  message: `${field} ${id} is not a known record of ${type}; upload it first`,
})

// Two bodies under one key at the same moment: of the one that comes second nothing is taken, however it was cut into batches.
const anotherBody: Problem = {
  field: null,
  code: 'idempotency_conflict',
  message: 'this Idempotency-Key was used with another body at the same time; send this one again with a new key',
}

const idempotencyConflict: Problem = {
  field: null,
  code: 'idempotency_conflict',
  message: 'this Idempotency-Key was used with another body; use a new key for a new interaction',
}
