import type { Resumed, SubmittedBatch, SubmittedRecord, VerdictEvent, Waiting } from './events.js'
import type { Values } from './field.js'
import type { Problem, Refused } from './problem.js'
import { createReferencesOf, type RecordType, type Reference } from './record.js'

/** What a verdict depends on besides the batch itself. */
export type World = {
  /** `all`: everything that the batch refers to is there, so that no record has to be asked what it refers to. */
  isKnown: 'all' | ((reference: Reference) => boolean)
  /** SHA-256 of the body that a keyed record of this id was taken with before; undefined where it was not. */
  takenBefore: (id: string) => Buffer | undefined
  /** SHA-256 of the body that this request was first decided with; undefined where nothing of it was decided before. */
  bodyOf: (requestId: string) => Buffer | undefined
  /** The record of this id that waits; undefined where none does. */
  waiting: (id: string) => StillWaiting | undefined
  /** How much more of the organisation may begin to wait. */
  roomToWait: Room
  /** Whether the person was erased whom a record names, or in whose text that person's id stands. Undefined where nobody was erased. */
  isErased?: ((record: Readonly<Record<string, unknown>> | string) => boolean) | undefined
  /** How many bytes the record at this index of the batch takes while it waits. */
  sizeOf: (index: number) => number
}

/** A number of records, and of the bytes that they take while they wait. */
export type Room = { readonly records: number; readonly bytes: number }
export const noRoom: Room = { records: 0, bytes: 0 }
export const roomAfter = (room: Room, taken: Room): Room => ({
  records: room.records - taken.records,
  bytes: room.bytes - taken.bytes,
})

/** A record that waits, as far as decisions depend on it: `batchId` and `place` say where it was first submitted. */
export type StillWaiting = {
  batchId: string
  place: number
  version: number
  keyedSha256: Buffer | null
  missing: Reference[]
  until: number
  size: number
  /** Whether a version that knew nothing of waiting has decided in its lane since: a newer record of its id may be accepted. */
  isOvertaken?: boolean
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
 *
 * The rules are the three functions below: for a record that waited, for one with an Idempotency-Key, and for what is missing.
 * Records are decided in the order of the batch, so the loop keeps what the earlier ones have changed for the later ones.
 */
export const createDecide = (type: RecordType): Decide => {
  const referencesOf = createReferencesOf(type)

  return (batch, world, decidedAt) => {
    const isErased = world.isErased ?? (() => false)
    const refused: Refused[] = batch.refusals.map(({ index, id, problems, record }) =>
      isErased(record) || (id !== null && isErased(id)) ? nobodys(index) : { index, id, problems },
    )
    const repeated: number[] = []
    const waiting: Waiting[] = []
    const gone: number[] = []
    let accepted = 0
    const takenNow = new Map<string, Buffer>()
    const waitingNow = new Map<string, BegunWait>()
    const endedNow = new Set<string>()
    const room = { ...world.roomToWait }

    const resumedAt = resumedOf(batch)
    const isAnotherBody = !(world.bodyOf(batch.request_id)?.equals(batch.body_sha256) ?? true)
    const waitUntil = (batch.wait_until ?? 0) > decidedAt ? (batch.wait_until ?? 0) : undefined
    const waitOf = (id: string): BegunWait | undefined => waitingNow.get(id) ?? world.waiting(id)

    const { isKnown } = world
    const missingOf = (record: SubmittedRecord): Reference[] =>
      isKnown === 'all' ? [] : referencesOf(record as Values).filter((reference) => !isKnown(reference))

    const ruleOn = (record: SubmittedRecord, id: string, resumed: Resumed | undefined): Ruling => {
      if (isAnotherBody) return { is: 'refused', problems: [anotherBody] }
      const missing = missingOf(record)
      const erased: Problem[] = isErased(record) ? [personErased] : []
      if (resumed) {
        const wait = endedNow.has(id) ? undefined : world.waiting(id)
        const ruling = ruleOnResumed(resumed, wait, missing, Math.max(decidedAt, batch.submitted_at))
        return ruling.is === 'gone' || erased.length === 0 ? ruling : { is: 'refused', problems: erased }
      }
      if (erased.length > 0) return { is: 'refused', problems: erased }
      const { keyed_sha256: keyed } = record
      const before = keyed && ruleOnKeyed(keyed, takenNow.get(id) ?? world.takenBefore(id), waitOf(id))
      return before || ruleOnReferences(missing, waitUntil, () => boundMet(record.index, waitOf(id)))
    }
    // One that takes the place of another that waits needs no more room, except for what it is larger.
    const boundMet = (index: number, older: BegunWait | undefined): Problem | undefined => {
      if (room.records <= 0 && !older) return tooManyWaiting
      const more = world.sizeOf(index) - (older?.size ?? 0)
      return more > 0 && more > room.bytes ? tooManyBytesWaiting : undefined
    }

    for (const record of batch.records) {
      const id = String(record[type.id])
      const { index, keyed_sha256: keyed } = record
      const resumed = resumedAt?.get(index)
      const ruling = ruleOn(record, id, resumed)
      const isFirst = !resumed && !ruling.isRepeated
      if (resumed && ruling.is !== 'gone') endedNow.add(id)
      if (ruling.isRepeated) repeated.push(index)
      if (ruling.is === 'accepted') {
        accepted++
        if (isFirst && keyed) takenNow.set(id, keyed)
      } else if (ruling.is === 'refused')
        refused.push(isOfErased(ruling) ? nobodys(index) : { index, id, problems: ruling.problems })
      else if (ruling.is === 'gone') gone.push(index)
      else {
        const { missing, until } = ruling
        waiting.push({ index, id, for: missing, until })
        if (!isFirst) continue
        const older = waitOf(id)
        const size = world.sizeOf(index)
        if (!older) room.records--
        room.bytes -= size - (older?.size ?? 0)
        waitingNow.set(id, { keyedSha256: keyed, missing, until, size })
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

type BegunWait = Pick<StillWaiting, 'keyedSha256' | 'missing' | 'until' | 'size'>

/** What is decided on one record. It is `isRepeated` where that was decided before, under the same Idempotency-Key. */
type Ruling = { isRepeated?: true } & (
  | { is: 'accepted' }
  | { is: 'gone' }
  | { is: 'refused'; problems: Problem[] }
  | { is: 'waiting'; missing: Reference[]; until: number }
)
const isAccepted: Ruling = { is: 'accepted' }

/** A record that waited, and was sent here again because something came, or because its time is up by the sender's clock. */
const ruleOnResumed = (resumed: Resumed, wait: StillWaiting | undefined, missing: Reference[], now: number): Ruling => {
  const isStillWaiting =
    wait?.batchId === resumed.batch_id && wait.place === resumed.place && wait.version === resumed.version
  if (!isStillWaiting) return { is: 'gone' }
  if (wait.isOvertaken) return { is: 'refused', problems: [overtaken] }
  if (missing.length === 0) return isAccepted
  if (resumed.until > now) return { is: 'waiting', missing, until: resumed.until }
  return { is: 'refused', problems: missing.map((each) => waitedInVain(each, resumed)) }
}

/** A record with an Idempotency-Key: undefined where nothing was decided under that key yet. */
const ruleOnKeyed = (keyed: Buffer, taken: Buffer | undefined, wait: BegunWait | undefined): Ruling | undefined => {
  const first = taken ?? wait?.keyedSha256
  if (!first) return undefined
  if (!first.equals(keyed)) return { is: 'refused', problems: [idempotencyConflict] }
  if (taken || !wait) return { is: 'accepted', isRepeated: true }
  return { is: 'waiting', isRepeated: true, missing: wait.missing, until: wait.until }
}

/** A record as it comes for the first time; `waitUntil` where it may wait for what is missing. */
const ruleOnReferences = (
  missing: Reference[],
  waitUntil: number | undefined,
  boundMet: () => Problem | undefined,
): Ruling => {
  if (missing.length === 0) return isAccepted
  const problems = missing.map(unknownReference)
  if (waitUntil === undefined) return { is: 'refused', problems }
  const met = boundMet()
  if (met) return { is: 'refused', problems: [met, ...problems] }
  return { is: 'waiting', missing, until: waitUntil }
}

/** Where the records of a batch came from that waited before, by their places in this batch; undefined where none did. */
export const resumedOf = ({ resumed = [] }: SubmittedBatch): ReadonlyMap<number, Resumed> | undefined =>
  resumed.length === 0 ? undefined : new Map(resumed.map((each) => [each.index, each]))

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

const tooMuchWaits = (bound: string): Problem => ({
  field: null,
  code: 'too_many_waiting',
  message: `no more records of your organisation may wait (${bound}); GET /v1/waiting tells what they wait for: upload that first`,
})
const tooManyWaiting = tooMuchWaits('their number has reached MAX_WAITING')
const tooManyBytesWaiting = tooMuchWaits('with this one they would take more than MAX_WAITING_BYTES')

const overtaken: Problem = {
  field: null,
  code: 'overtaken',
  message:
    'while this record waited, an older version of Weir decided, which does not know whether a newer record of the same id came ' +
    'meanwhile; send it again, or retry it, if it is still to count',
}

// Two bodies under one key at the same moment: of the one that comes second nothing is taken, however it was cut into batches.
const anotherBody: Problem = {
  field: null,
  code: 'idempotency_conflict',
  message: 'this Idempotency-Key was used with another body at the same time; send this one again with a new key',
}

const personErased: Problem = {
  field: null,
  code: 'person_erased',
  message: 'this record names a person who was erased; nothing of it is kept',
}

/** What is refused because a person was erased has nothing of that person: not even the id. */
export const nobodys = (index: number): Refused => ({ index, id: null, problems: [personErased] })
export const isOfErased = ({ problems }: { problems: readonly Problem[] }): boolean =>
  problems.some(({ code }) => code === 'person_erased')

const idempotencyConflict: Problem = {
  field: null,
  code: 'idempotency_conflict',
  message: 'this Idempotency-Key was used with another body; use a new key for a new interaction',
}
