import { findAcceptedLosses, findCursor, type HeldCursor, lockCursor, moveCursor } from '#ledger/cursors.js'
import { type Entity, findIndexId } from '#ledger/entities.js'
import { type Gate, type Gates, noGates, noteSeen } from '#ledger/erasures/gates.js'
import * as fence from '#ledger/fence.js'
import { findKeyedInteractions, insertKeyedInteractions, insertKeyedRequests } from '#ledger/keyed-interactions.js'
import { type ForgottenVerdict, takeForgotten } from '#ledger/mending/forgotten-verdicts.js'
import {
  claimBodies,
  findBatchDecidedAt,
  findFirstBodies,
  findVerdicts,
  insertVerdicts,
  type StoredVerdict,
  touchVerdicts,
} from '#ledger/verdicts.js'
import * as waits from '#ledger/waiting/waits.js'
import type { Connection } from '#platform/postgres/postgres.js'
import { timeOf } from '#platform/postgres/rows.js'
import { noRoom, type Room } from '#schemas/decide.js'
import { recordsIn } from '#schemas/events.js'
import { mayBeKeyed } from '#schemas/uuid.js'
import { versionOf } from '#schemas/version.js'
import { decideFetch, idsOf, keyedOf, wantedOf } from './decide-fetch.js'
import type { EntityIndex } from './entity-index.js'
import type { RoomToWait } from './waiting/room.js'

/** `forgotten`: nothing is published of them, see `isPassedOver`. */
export type Decisions<One extends fence.Submitted> = {
  outcomes: fence.Decided<One>[]
  entities: Entity[]
  forgotten: One[]
  waits: waits.WaitChanges
  /** How many of the entities were waited for. */
  arrived: number
}

/** What it takes to let records wait: how many may, and how one is kept meanwhile. */
export type WaitTools<One extends fence.Submitted> = {
  room: Pick<RoomToWait, 'of'>
  /** The record at a place of its batch, as it is kept. */
  keep: (one: One) => (place: number) => Buffer
}

// Where nothing is said about waiting, nothing waits.
const nothingWaits: WaitTools<fence.Submitted> = {
  room: { of: async () => noRoom },
  keep: () => {
    throw new Error('it was not said how a record is kept')
  },
}

/**
 * Everything that one fetch of a partition reads and changes in Postgres. The caller's commit is the decision. It is decided at the `given`
 * time, or else by Postgres's clock: whether a wait is over must not depend on which host decides. Statements that do not need each other's
 * answers are sent at once, and Postgres runs them in that order: most of the time of a small fetch is round trips.
 */
export const takeDecisions = async <One extends fence.Submitted>(
  connection: Connection,
  index: EntityIndex,
  at: fence.Span,
  submitted: readonly One[],
  given: number | undefined,
  waitTools: WaitTools<One> = nothingWaits,
  begun: Promise<unknown> = Promise.resolve(),
  gates: Gates = noGates,
): Promise<Decisions<One>> => {
  const [{ cursor, verdicts, indexId, whoWaits }] = await Promise.all([readFirst(connection, at, submitted), begun])
  const now = given ?? cursor?.lockedAt ?? (await timeOf(connection))
  const decidedUntil = cursor?.next ?? 0
  fence.refuseHole(at, cursor?.next)
  // A Postgres that was emptied on purpose knows no cursor, and begins where the group is.
  if (at.before && cursor !== undefined && !fence.isAcceptedLoss(at.before, await findAcceptedLosses(connection, at))) {
    const decidedThere = await findBatchDecidedAt(connection, { ...at, offset: at.before.offset })
    fence.refuseCutLog(at, decidedThere, verdicts, cursor.prunedBefore)
  }
  const fresh = fence.freshOnes(submitted, decidedUntil, verdicts)

  const [isKnown, takenBefore, bodies, held, forgottenVerdicts, gatesNow] = await Promise.all([
    index.findKnown(connection, wantedOf(at.type, fresh), indexId),
    findKeyedInteractions(connection, keyedOf(at.type, fresh)),
    findBodies(connection, at, fresh),
    waits.holdWaits(connection, at.type.type, idsOf(at.type, fresh, whoWaits)),
    findForgotten(connection, at, fresh, cursor?.forgottenUntil ?? 0),
    findGates(connection, gates, fresh),
  ])
  const overtaken = versionOf(cursor?.overtakenUntil ?? 0, 0)
  const waiting = held.map((wait) => (wait.version < overtaken ? { ...wait, isOvertaken: true } : wait))
  const rooms = await findRooms(connection, fresh, waitTools.room)
  const messageOf = createMessageOf(fresh, waitTools.keep)
  const world = {
    isKnown,
    takenBefore,
    bodies,
    waiting,
    roomToWait: (orgId: string) => rooms.get(orgId) ?? noRoom,
    sizeOf: (batchId: string, place: number) => messageOf({ batchId, place }).length,
    forgotten: forgottenVerdicts,
    gates: gatesNow,
  }
  const taken = decideFetch(at, fresh, world, now)
  for (const verdict of taken.verdicts) verdicts.set(verdict.batch_id, verdict)

  if (at.isReferenced) await index.add(connection, taken.entities)
  const replayedFrom = at.first < decidedUntil ? at.first : null
  const moves = at.next > decidedUntil || replayedFrom !== null
  await Promise.all([
    insertKeyedInteractions(connection, taken.keyed),
    insertVerdicts(connection, taken.verdicts),
    insertKeyedRequests(connection, taken.requests),
    taken.seen.length > 0 && noteSeen(connection, taken.seen),
    moves && moveCursor(connection, at, { next: Math.max(at.next, decidedUntil), replayedFrom }),
  ])
  await waits.storeWaits(connection, taken.waits, messageOf, now)
  const arrived = whoWaits.forThese ? await waits.noteArrived(connection, taken.entities, now) : 0

  const isUndecided = submitted.some(({ batch }) => !verdicts.has(batch.batch_id))
  const losses = isUndecided ? await findAcceptedLosses(connection, at) : []
  const forgotten = submitted.filter((one) => fence.isPassedOver(at, one, verdicts, cursor, losses))
  const outcomes = submitted.filter((one) => !forgotten.includes(one)).map((one) => fence.toDecided(at, one, verdicts))

  const repeats = outcomes.filter(({ isTheOneDecided }) => !isTheOneDecided).map(({ batch }) => batch.batch_id)
  await touchVerdicts(connection, repeats, now)
  return { outcomes, entities: taken.entities, forgotten, waits: taken.waits, arrived }
}

/** The records of a fetch as they are kept while they wait. Each is made once: its size is asked for before it is stored. */
const createMessageOf = <One extends fence.Submitted>(fresh: readonly One[], keep: WaitTools<One>['keep']) => {
  const oneOf = new Map(fresh.map((one) => [one.batch.batch_id, one]))
  const keptOf = new Map<string, (place: number) => Buffer>()
  const messages = new Map<string, Buffer>()
  return ({ batchId, place }: waits.WaitPlace): Buffer => {
    const name = `${batchId}/${place}`
    const made = messages.get(name)
    if (made) return made
    const one = oneOf.get(batchId)
    if (!one) throw new Error(`the batch ${batchId} is not in this fetch`)
    const kept = keptOf.get(batchId) ?? keep(one)
    keptOf.set(batchId, kept)
    const message = kept(place)
    messages.set(name, message)
    return message
  }
}

type First = {
  cursor: HeldCursor | undefined
  verdicts: Map<string, StoredVerdict>
  indexId: string | undefined
  whoWaits: waits.WhoWaits
}

/** What every fetch asks first, all of it behind the lock: so that what the decision before this one did is seen. */
const readFirst = async (
  connection: Connection,
  at: fence.Span,
  submitted: readonly fence.Submitted[],
): Promise<First> => {
  const [cursor, first] = await Promise.all([findCursor(connection, at), readBehindLock(connection, at, submitted)])
  if (cursor) return { cursor, ...first }
  // The partition had no cursor yet, so nothing was locked, and another instance may have decided this fetch in between: the reads are
  // repeated once this transaction holds the cursor.
  const held = await lockCursor(connection, at)
  return { cursor: held, ...(await readBehindLock(connection, at, submitted)) }
}

const readBehindLock = async (
  connection: Connection,
  at: fence.Span,
  submitted: readonly fence.Submitted[],
): Promise<Omit<First, 'cursor'>> => {
  const batches = at.before ? [...submitted, at.before] : submitted
  const [verdicts, indexId, whoWaits] = await Promise.all([
    findVerdicts(
      connection,
      batches.map(({ batch }) => batch.batch_id),
    ),
    findIndexId(connection),
    findWho(connection, at, submitted),
  ])
  return { verdicts, indexId, whoWaits }
}

// After the cursor is locked also because this transaction has its number then: see checkWaits.
const findWho = async (
  connection: Connection,
  { type }: fence.Span,
  submitted: readonly fence.Submitted[],
): Promise<waits.WhoWaits> => {
  if (submitted.length === 0) return { these: new Set(), isAll: true, forThese: false }
  const orgIds = new Set(submitted.map(({ batch }) => batch.org_id))
  const most = submitted.reduce((sum, { batch }) => sum + recordsIn(batch), 1)
  return waits.findWhoWaits(connection, type.type, [...orgIds], most)
}

/** Whom the organisations of these batches have had erased. Also of types that name nobody: an organisation may be deleted. */
const findGates = async (
  connection: Connection,
  gates: Gates,
  fresh: readonly fence.Submitted[],
): Promise<ReadonlyMap<string, Gate>> => {
  const orgIds = new Set(fresh.map(({ batch }) => batch.org_id))
  return orgIds.size === 0 ? new Map() : gates.of(connection, [...orgIds])
}

/** How much more may wait, of each organisation that wants some to. */
const findRooms = async (
  connection: Connection,
  fresh: readonly fence.Submitted[],
  room: Pick<RoomToWait, 'of'>,
): Promise<Map<string, Room>> => {
  const orgIds = new Set(fresh.filter(({ batch }) => batch.wait_until).map(({ batch }) => batch.org_id))
  const rooms = new Map<string, Room>()
  for (const orgId of orgIds) rooms.set(orgId, await room.of(connection, orgId))
  return rooms
}

/** What was published on these batches by a Postgres that knew more than this one. */
const findForgotten = async (
  connection: Connection,
  { first }: fence.Span,
  fresh: readonly fence.Submitted[],
  forgottenUntil: number,
): Promise<ReadonlyMap<string, ForgottenVerdict>> =>
  first < forgottenUntil
    ? takeForgotten(
        connection,
        fresh.map(({ batch }) => batch.batch_id),
      )
    : new Map()

/** The bodies that the requests of new batches were first decided with; those of new requests too, where there are several lanes. */
const findBodies = (
  connection: Connection,
  { lanes = 1 }: fence.Span,
  fresh: readonly fence.Submitted[],
): Promise<Map<string, Buffer>> => {
  const first = new Map<string, Buffer>()
  for (const { batch } of fresh)
    if (mayBeKeyed(batch.request_id) && !first.has(batch.request_id)) first.set(batch.request_id, batch.body_sha256)
  return lanes === 1 ? findFirstBodies(connection, [...first.keys()]) : claimBodies(connection, first)
}
