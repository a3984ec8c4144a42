import type { Connection } from '#platform/postgres.js'
import { entityKey } from '#schemas/derive/names.js'
import type { SubmittedBatch, SubmittedRecord } from '#schemas/events.js'
import type { Values } from '#schemas/field.js'
import { createReferencesOf, type RecordType } from '#schemas/record.js'
import { type Decision, decide } from './decide.js'
import { type EntityIndex, nameOf } from './entity-index.js'
import type { Entity } from './sql/find-entities.js'
import { findKeyedInteractions } from './sql/find-keyed-interactions.js'
import { findVerdicts } from './sql/find-verdicts.js'
import { insertKeyedInteractions, type TakenInteraction } from './sql/insert-keyed-interactions.js'
import { insertVerdicts } from './sql/insert-verdicts.js'
import { lockCursor } from './sql/lock-cursor.js'
import { moveCursor } from './sql/move-cursor.js'
import { type StoredVerdict, toStoredVerdict } from './stored-verdict.js'

export type Submitted = { offset: number; batch: SubmittedBatch }
/** A fetch of a partition: the offsets that it covers, unreadable messages among them. */
export type Span = {
  topic: string
  partition: number
  type: RecordType
  isReferenced: boolean
  first: number
  next: number
}

export type Outcome = Submitted & {
  verdict: StoredVerdict
  /** Whether the verdict was taken on this very message: a repeat of a batch has only its verdict told again. */
  isTheOneDecided: boolean
}

/** Everything that one fetch of a partition changes in Postgres. The caller's commit is the decision. */
export const takeDecisions = async (
  connection: Connection,
  index: EntityIndex,
  at: Span,
  submitted: readonly Submitted[],
  now: number,
): Promise<{ outcomes: Outcome[]; entities: Entity[] }> => {
  const cursor = await lockCursor(connection, at.topic, at.partition)
  const verdicts = await findVerdicts(
    connection,
    submitted.map(({ batch }) => batch.batch_id),
  )
  refuseHole(at, cursor)
  const fresh = freshOnes(submitted, cursor ?? 0, verdicts)

  const taken = await decideAll(connection, index, at, fresh, now)
  for (const verdict of taken.verdicts) verdicts.set(verdict.batch_id, verdict)

  if (at.isReferenced) await index.add(connection, taken.entities)
  await insertKeyedInteractions(connection, taken.keyed)
  if (taken.verdicts.length > 0) await insertVerdicts(connection, taken.verdicts)
  if (at.next > (cursor ?? 0)) await moveCursor(connection, at.topic, at.partition, at.next)

  return { outcomes: submitted.map((one) => toOutcome(at, one, verdicts)), entities: taken.entities }
}

// Plain producers leave no gaps: a missing offset is a batch that was acknowledged and is gone.
const refuseHole = ({ topic, partition, first }: Span, cursor: number | undefined): void => {
  if (cursor === undefined || first <= cursor) return
  throw new Error(`${topic}/${partition}: offsets ${cursor} to ${first - 1} are missing from the log`)
}

/** Those that lie beyond the cursor and whose batch has no verdict yet, each batch once. */
const freshOnes = (
  submitted: readonly Submitted[],
  cursor: number,
  verdicts: ReadonlyMap<string, StoredVerdict>,
): Submitted[] => {
  const seen = new Set<string>()
  return submitted.filter(({ offset, batch: { batch_id } }) => {
    const isNew = offset >= cursor && !verdicts.has(batch_id) && !seen.has(batch_id)
    seen.add(batch_id)
    return isNew
  })
}

const decideAll = async (
  connection: Connection,
  index: EntityIndex,
  at: Span,
  fresh: readonly Submitted[],
  now: number,
): Promise<{ verdicts: StoredVerdict[]; entities: Entity[]; keyed: TakenInteraction[] }> => {
  const referencesOf = createReferencesOf(at.type)
  const wanted = function* (): Iterable<Entity> {
    for (const { batch } of fresh) {
      for (const record of batch.records) {
        for (const { type, id } of referencesOf(record as Values)) yield { orgId: batch.org_id, type, id }
      }
    }
  }
  const known = await index.findKnown(connection, wanted())
  const takenBefore = await findKeyedInteractions(
    connection,
    fresh.flatMap(({ batch }) => keyedOf(at.type, batch)),
  )

  const taken = { verdicts: [] as StoredVerdict[], entities: [] as Entity[], keyed: [] as TakenInteraction[] }
  for (const { batch, offset } of fresh) {
    const decision = decide(batch, {
      idField: at.type.id,
      referencesOf,
      isKnown: ({ type, id }) => known.has(nameOf({ orgId: batch.org_id, type, id })),
      takenBefore: (id) => takenBefore.get(entityKey(batch.org_id, id)),
    })
    taken.verdicts.push(toStoredVerdict(batch, decision, { ...at, type: at.type.type, offset, decidedAt: now }))
    for (const record of newlyAccepted(batch, decision)) {
      const id = String(record[at.type.id])
      if (at.isReferenced) taken.entities.push({ orgId: batch.org_id, type: at.type.type, id })
      if (!record.keyed_sha256) continue
      takenBefore.set(entityKey(batch.org_id, id), record.keyed_sha256)
      const recordedAt = Number(record.recorded_at)
      taken.keyed.push({ orgId: batch.org_id, id, bodySha256: record.keyed_sha256, recordedAt })
    }
  }
  return taken
}

/** The records of a batch that a verdict accepts and that were not taken before. */
export const newlyAccepted = (
  batch: SubmittedBatch,
  { refused, repeated }: Pick<Decision, 'refused' | 'repeated'>,
): SubmittedRecord[] => {
  if (refused.length === 0 && repeated.length === 0) return batch.records
  const left = new Set([...refused.map(({ index }) => index), ...repeated])
  return batch.records.filter(({ index }) => !left.has(index))
}

const keyedOf = (type: RecordType, batch: SubmittedBatch) =>
  batch.records
    .filter((record) => record.keyed_sha256)
    .map((record) => ({ orgId: batch.org_id, id: String(record[type.id]) }))

const toOutcome = (at: Span, one: Submitted, verdicts: ReadonlyMap<string, StoredVerdict>): Outcome => {
  const verdict = verdicts.get(one.batch.batch_id)
  if (!verdict) {
    throw new Error(`${at.topic}/${at.partition}: offset ${one.offset} lies below the cursor, but has no verdict`)
  }
  const isTheOneDecided =
    verdict.topic === at.topic && verdict.partition === at.partition && verdict.submitted_offset === one.offset
  return { ...one, verdict, isTheOneDecided }
}
