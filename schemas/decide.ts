import type { Resumed, SubmittedBatch, VerdictEvent, Waiting } from './events.js'
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
  /** The record of this id that waits; undefined where none does. */
  waiting: (id: string) => StillWaiting | undefined
  /** How many more records of the organisation may begin to wait. */
  roomToWait: number
}

/** A record that waits, as far as decisions depend on it: `batchId` and `place` say where it was first submitted. */
export type StillWaiting = {
  batchId: string
  place: number
  version: number
  keyedSha256: Buffer | null
  missing: Reference[]
  until: number
}

/**
 * `repeated` are the indexes of keyed records that came before: those that were taken are accepted, but not published again, and
 * those that wait already are said to wait. `gone` are the indexes of records that were to be decided anew and no longer waited:
 * nothing happens to them. It is absent where there are none.
 */
export type Decision = VerdictEvent & { repeated: number[]; gone?: number[] }

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
    const waiting: Waiting[] = []
    const gone: number[] = []
    const takenNow = new Map<string, Buffer>()
    const waitingNow = new Map<string, Pick<StillWaiting, 'keyedSha256' | 'missing' | 'until'>>()
    let accepted = 0
    let room = world.roomToWait
    const resumedAt = resumedOf(batch)
    const endedNow = new Set<string>()
    const isAnotherBody = !(world.bodyOf(batch.request_id)?.equals(batch.body_sha256) ?? true)
    const mayWait = (batch.wait_until ?? 0) > decidedAt

    for (const record of batch.records) {
      const id = String(record[type.id])
      const { index } = record
      if (isAnotherBody) {
        refused.push({ index, id, problems: [anotherBody] })
        continue
      }
      const resumed = resumedAt?.get(index)
      if (resumed) {
        if (endedNow.has(id) || !isSame(resumed, world.waiting(id))) {
          gone.push(index)
          continue
        }
        endedNow.add(id)
      }
      const keyed = resumed ? null : record.keyed_sha256
      const before = keyed ? (takenNow.get(id) ?? world.takenBefore(id)) : undefined
      const waits = keyed && !before ? (waitingNow.get(id) ?? world.waiting(id)) : undefined
      const first = before ?? waits?.keyedSha256
      if (keyed && first) {
        if (!first.equals(keyed)) {
          refused.push({ index, id, problems: [idempotencyConflict] })
          continue
        }
        repeated.push(index)
        if (waits) waiting.push({ index, id, for: waits.missing, until: waits.until })
        else accepted++
        continue
      }
      const missing = referencesOf(record as Values).filter((reference) => !world.isKnown(reference))
      if (missing.length === 0) {
        if (keyed) takenNow.set(id, keyed)
        accepted++
        continue
      }
      if (resumed) {
        // Whoever sent it here had a clock that said that its time was over.
        const isOver = resumed.until <= Math.max(decidedAt, batch.submitted_at)
        if (!isOver) waiting.push({ index, id, for: missing, until: resumed.until })
        else refused.push({ index, id, problems: missing.map((each) => waitedInVain(each, resumed)) })
        continue
      }
      // One that takes the place of another that waits needs no more room.
      const needsRoom = mayWait && !waitingNow.has(id) && !world.waiting(id)
      if (!mayWait) refused.push({ index, id, problems: missing.map(unknownReference) })
      else if (needsRoom && room <= 0)
        refused.push({ index, id, problems: [tooManyWaiting, ...missing.map(unknownReference)] })
      else {
        if (needsRoom) room--
        const until = batch.wait_until ?? 0
        waiting.push({ index, id, for: missing, until })
        waitingNow.set(id, { keyedSha256: keyed, missing, until })
      }
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
      ...(waiting.length > 0 && { waiting }),
      ...(gone.length > 0 && { gone }),
    }
  }
}

/** Where the records of a batch came from that waited before, by their places in this batch; undefined where none did. */
export const resumedOf = ({ resumed = [] }: SubmittedBatch): ReadonlyMap<number, Resumed> | undefined =>
  resumed.length === 0 ? undefined : new Map(resumed.map((each) => [each.index, each]))

const isSame = (resumed: Resumed, waiting: StillWaiting | undefined): boolean =>
  waiting !== undefined &&
  waiting.batchId === resumed.batch_id &&
  waiting.place === resumed.place &&
  waiting.version === resumed.version

const unknownReference = ({ field, type, id }: Reference): Problem => ({
  field,
  code: 'unknown_reference',
  message: `${field} ${id} is not a known record of ${type}; upload it first`,
})

const waitedInVain = ({ field, type, id }: Reference, { since, until }: Resumed): Problem => ({
  field,
  code: 'unknown_reference',
  message:
    `${field} ${id} is not a known record of ${type}; this record waited ${durationText(until - since)} for it: ` +
    'upload it, then this record again',
})

/** "24 hours", in the largest unit that says it exactly, and in seconds at the least. */
const durationText = (ms: number): string => {
  const seconds = Math.max(1, Math.round(ms / 1000))
  const [unit, name] = durationUnits.find(([each]) => seconds % each === 0 && seconds > each) ?? [1, 'second']
  const count = seconds / unit
  return `${count} ${name}${count === 1 ? '' : 's'}`
}
const durationUnits: [number, string][] = [
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
]

const tooManyWaiting: Problem = {
  field: null,
  code: 'too_many_waiting',
  message: 'no more records of your organisation may wait; GET /v1/waiting tells what they wait for: upload that first',
}

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
