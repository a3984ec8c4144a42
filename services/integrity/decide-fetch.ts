import type { Entity } from '#ledger/entities.js'
import type { Gate } from '#ledger/erasures/gates.js'
import { createIsErased } from '#ledger/erasures/is-erased.js'
import type { Span, Submitted } from '#ledger/fence.js'
import type { DecidedRequest, Keyed, TakenInteraction } from '#ledger/keyed-interactions.js'
import type { ForgottenVerdict } from '#ledger/mending/forgotten-verdicts.js'
import type { StoredVerdict } from '#ledger/verdicts.js'
import type { HeldWait, WaitChanges, WhoWaits } from '#ledger/waiting/waits.js'
import { createDecide, type Decision, noRoom, type Room, roomAfter, type World } from '#schemas/decide.js'
import { newlyAccepted } from '#schemas/derive/decided-events.js'
import { entityKey } from '#schemas/derive/names.js'
import type { SubmittedBatch } from '#schemas/events.js'
import type { Values } from '#schemas/field.js'
import { createReferencesOf, type RecordType, type Reference } from '#schemas/record.js'
import { isUuid } from '#schemas/uuid.js'
import type { IsKnown } from './entity-index.js'
import { createWaitsOfFetch } from './waiting/wait-changes.js'

/**
 * What the decisions on a fetch depend on: which entities are known, the hashes of keyed interactions by `org/id`, the hashes of
 * the bodies that requests were first decided with, by request id, the records that wait, and how many more of an organisation
 * may. Where Postgres went back to an earlier state, also the verdicts that it has `forgotten`, by batch id.
 */
export type Known = {
  isKnown: IsKnown
  takenBefore: ReadonlyMap<string, Buffer>
  bodies: ReadonlyMap<string, Buffer>
  waiting: readonly HeldWait[]
  roomToWait: (orgId: string) => Room
  /** How many bytes a record takes while it waits. */
  sizeOf: (batchId: string, place: number) => number
  forgotten?: ReadonlyMap<string, ForgottenVerdict>
  /** Whom organisations have had erased. */
  gates?: ReadonlyMap<string, Gate>
}

/** What the decisions on a fetch add to Postgres. */
export type Taken = {
  verdicts: StoredVerdict[]
  entities: Entity[]
  keyed: TakenInteraction[]
  requests: DecidedRequest[]
  waits: WaitChanges
  /** Erased persons whose records were refused: by the hash of the name. */
  seen: { orgId: string; hash: string }[]
}

/** Decides new batches one after another, in the order of the log: a keyed interaction is known to the batches after it. */
export const decideFetch = (at: Span, fresh: readonly Submitted[], world: Known, now: number): Taken => {
  const decide = createDecide(at.type)
  const takenBefore = new Map(world.takenBefore)
  const bodies = new Map(world.bodies)
  const waits = createWaitsOfFetch(at, world.waiting, world.sizeOf)
  const taken: Taken = { verdicts: [], entities: [], keyed: [], requests: [], waits: waits.changes, seen: [] }
  for (const one of fresh) {
    const { batch, offset } = one
    const before = world.forgotten?.get(batch.batch_id)
    const isKnown = isKnownTo(world.isKnown, batch.org_id)
    const gate = world.gates?.get(batch.org_id)
    const decision = decide(
      batch,
      {
        isKnown: before ? asItWas(isKnown, missingOf(at.type, batch, before)) : isKnown,
        isErased: gate && createIsErased(at.type, gate, (hash) => taken.seen.push({ orgId: batch.org_id, hash })),
        takenBefore: (id) => takenBefore.get(entityKey(batch.org_id, id)),
        bodyOf: (requestId) => bodies.get(requestId),
        waiting: (id) => waits.of(batch.org_id, id),
        roomToWait: batch.wait_until ? roomAfter(world.roomToWait(batch.org_id), waits.begunBy(batch.org_id)) : noRoom,
        sizeOf: (index) => world.sizeOf(batch.batch_id, index),
      },
      before?.decided_at ?? now,
    )
    // Of a request that came with another body nothing is taken: what it holds takes no other record's place either.
    if (bodies.get(batch.request_id)?.equals(batch.body_sha256) ?? true) waits.note(one, decision)
    if (!bodies.has(batch.request_id)) bodies.set(batch.request_id, batch.body_sha256)
    taken.verdicts.push({
      ...decision,
      topic: at.topic,
      partition: at.partition,
      submitted_offset: offset,
      ...(batch.key_id && { key_id: batch.key_id }),
    })
    taken.requests.push(...decidedRequestsOf(batch, decision))
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

const isKnownTo = (isKnown: IsKnown, orgId: string): World['isKnown'] =>
  isKnown === 'all' ? 'all' : ({ type, id }) => isKnown({ orgId, type, id })

/** What is known but for what was missing: that may have come since, and the verdict was given out. */
const asItWas =
  (isKnown: World['isKnown'], missing: ReadonlySet<string>) =>
  (reference: Reference): boolean =>
    !missing.has(entityKey(reference.type, reference.id)) && (isKnown === 'all' || isKnown(reference))

/** What was missing when a batch was decided before, as `type/id`. */
const missingOf = (
  type: RecordType,
  batch: SubmittedBatch,
  { refused, waiting = [] }: ForgottenVerdict,
): ReadonlySet<string> => {
  const missing = waiting.flatMap((each) => each.for)
  const referencesOf = createReferencesOf(type)
  const recordAt = new Map(batch.records.map((record) => [record.index, record]))
  for (const { index, problems } of refused) {
    const fields = new Set(problems.filter(({ code }) => code === 'unknown_reference').map(({ field }) => field))
    const record = recordAt.get(index)
    if (record && fields.size > 0)
      missing.push(...referencesOf(record as Values).filter(({ field }) => fields.has(field)))
  }
  return new Set(missing.map((each) => entityKey(each.type, each.id)))
}

/** Where the verdicts on keyed interactions are, without repeats: the verdict that took an interaction says what became of it. */
export const decidedRequestsOf = (
  batch: SubmittedBatch,
  { decided_at: decidedAt, refused, repeated }: Pick<Decision, 'decided_at' | 'refused' | 'repeated'>,
): DecidedRequest[] => {
  const { batch_id: batchId, keyed_requests: keyed = [] } = batch
  if (keyed.length === 0) return []
  const refusedAt = new Set(refused.map(({ index }) => index))
  const repeatedAt = new Set(repeated)
  return keyed
    .filter(({ index }) => !repeatedAt.has(index))
    .map(({ index, request_id }) => ({
      requestId: request_id,
      batchId,
      place: index,
      isAccepted: !refusedAt.has(index),
      decidedAt,
    }))
}

/** The entities that the records of these batches refer to. */
export const wantedOf = (type: RecordType, fresh: readonly Submitted[]): Entity[] => {
  const referencesOf = createReferencesOf(type)
  const wanted: Entity[] = []
  for (const { batch } of fresh) {
    for (const record of batch.records) {
      for (const reference of referencesOf(record as Values))
        wanted.push({ orgId: batch.org_id, type: reference.type, id: reference.id })
    }
  }
  return wanted
}

/** The records of these batches that came with an Idempotency-Key. */
export const keyedOf = (type: RecordType, fresh: readonly Submitted[]): Keyed[] =>
  fresh.flatMap(({ batch }) =>
    batch.records
      .filter((record) => record.keyed_sha256)
      .map((record) => ({ orgId: batch.org_id, id: String(record[type.id]) })),
  )

/** Those ids that these batches are about and that may wait, each with its organisation; also those of records that the edge refused. */
export const idsOf = (
  type: RecordType,
  fresh: readonly Submitted[],
  { these, isAll }: Pick<WhoWaits, 'these' | 'isAll'>,
): { orgIds: string[]; ids: string[] } => {
  const [orgIds, ids]: [string[], string[]] = [[], []]
  if (these.size === 0) return { orgIds, ids }
  // An id that was refused may be anything.
  const mayWait = isAll ? (id: string) => these.has(id) : isUuid
  const add = (orgId: string, id: string): void => {
    if (!mayWait(id)) return
    orgIds.push(orgId)
    ids.push(id)
  }
  for (const { batch } of fresh) {
    for (const record of batch.records) add(batch.org_id, String(record[type.id]))
    for (const { id } of batch.refusals) if (id !== null) add(batch.org_id, id.toLowerCase())
  }
  return { orgIds, ids }
}
