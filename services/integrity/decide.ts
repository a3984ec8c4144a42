import type { SubmittedBatch } from '#schemas/events.js'
import type { Values } from '#schemas/field.js'
import type { Problem, Refused } from '#schemas/problem.js'
import type { Reference } from '#schemas/record.js'
import { unknownReferences } from '#schemas/unknown-reference.js'

export type Decision = {
  accepted: number
  /** All refused records, the edge's refusals among them, in the order of the batch. */
  refused: Refused[]
  /** Keyed records that were taken before: accepted, but not published again. */
  repeated: number[]
}

export type World = {
  idField: string
  referencesOf: (values: Values) => Reference[]
  isKnown: (reference: Reference) => boolean
  /** SHA-256 of the body that a keyed record of this id came with before, if it did. */
  takenBefore: (id: string) => Buffer | undefined
}

/** The verdict on one batch. No clock, no client: the same batch and the same world always give the same verdict. */
export const decide = (batch: SubmittedBatch, world: World): Decision => {
  const refused: Refused[] = batch.refusals.map(({ index, id, problems }) => ({ index, id, problems }))
  const repeated: number[] = []
  const takenNow = new Map<string, Buffer>()
  let accepted = 0

  for (const record of batch.records) {
    const id = String(record[world.idField])
    const problems = unknownReferences(world.referencesOf(record as Values), world.isKnown)
    const before = record.keyed_sha256 ? (takenNow.get(id) ?? world.takenBefore(id)) : undefined
    if (before) {
      if (!before.equals(record.keyed_sha256 ?? Buffer.alloc(0))) {
        refused.push({ index: record.index, id, problems: [conflict] })
        continue
      }
      repeated.push(record.index)
    } else if (problems.length > 0) {
      refused.push({ index: record.index, id, problems })
      continue
    } else if (record.keyed_sha256) takenNow.set(id, record.keyed_sha256)
    accepted++
  }
  refused.sort((a, b) => a.index - b.index)
  return { accepted, refused, repeated }
}

const conflict: Problem = {
  field: null,
  code: 'idempotency_conflict',
  message: 'this Idempotency-Key was used with another body; use a new key for a new interaction',
}
