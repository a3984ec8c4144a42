import { findAcceptedLosses, findPrunedBefore, lockCursor, moveCursor } from '#ledger/cursors.js'
import type { Entity } from '#ledger/entities.js'
import {
  type Decided,
  freshOnes,
  isAcceptedLoss,
  isForgotten,
  refuseCutLog,
  refuseHole,
  type Span,
  type Submitted,
  toDecided,
} from '#ledger/fence.js'
import { findKeyedInteractions, insertKeyedInteractions, insertKeyedRequests } from '#ledger/keyed-interactions.js'
import {
  claimBodies,
  findBatchDecidedAt,
  findFirstBodies,
  findVerdicts,
  insertVerdicts,
  touchVerdicts,
} from '#ledger/verdicts.js'
import type { Connection } from '#platform/postgres/postgres.js'
import { mayBeKeyed } from '#schemas/uuid.js'
import { decideFetch, keyedOf, wantedOf } from './decide-fetch.js'
import type { EntityIndex } from './entity-index.js'

/**
 * `forgotten` are batches that were decided so long ago that their verdicts are gone, or that lie where an operator has accepted
 * a loss: nothing is published of them.
 */
export type Decisions<One extends Submitted> = { outcomes: Decided<One>[]; entities: Entity[]; forgotten: One[] }

/** Everything that one fetch of a partition reads and changes in Postgres. The caller's commit is the decision. */
export const takeDecisions = async <One extends Submitted>(
  connection: Connection,
  index: EntityIndex,
  at: Span,
  submitted: readonly One[],
  now: number,
): Promise<Decisions<One>> => {
  const cursor = await lockCursor(connection, at.topic, at.partition)
  const lossesOf = ({ topic, partition }: Span) => findAcceptedLosses(connection, topic, partition)
  const verdicts = await findVerdicts(
    connection,
    [...submitted, ...(at.before ? [at.before] : [])].map(({ batch }) => batch.batch_id),
  )
  refuseHole(at, cursor)
  // A Postgres that was emptied on purpose knows no cursor, and begins where the group is.
  if (at.before && cursor !== undefined && !isAcceptedLoss(at.before, await lossesOf(at))) {
    const decidedThere = await findBatchDecidedAt(connection, { ...at, offset: at.before.offset })
    refuseCutLog(at, decidedThere, verdicts, await findPrunedBefore(connection, at.topic, at.partition))
  }
  const fresh = freshOnes(submitted, cursor ?? 0, verdicts)

  const isKnown = await index.findKnown(connection, wantedOf(at.type, fresh))
  const takenBefore = await findKeyedInteractions(connection, keyedOf(at.type, fresh))
  const bodies = await findBodies(connection, at, fresh)
  const taken = decideFetch(at, fresh, { isKnown, takenBefore, bodies, waiting: new Map(), roomToWait: () => 0 }, now)
  for (const verdict of taken.verdicts) verdicts.set(verdict.batch_id, verdict)

  if (at.isReferenced) await index.add(connection, taken.entities)
  await insertKeyedInteractions(connection, taken.keyed)
  await insertVerdicts(connection, taken.verdicts)
  await insertKeyedRequests(connection, taken.requests)
  if (at.next > (cursor ?? 0)) await moveCursor(connection, at.topic, at.partition, at.next)

  const isUndecided = submitted.some(({ batch }) => !verdicts.has(batch.batch_id))
  const prunedBefore = isUndecided ? await findPrunedBefore(connection, at.topic, at.partition) : undefined
  const losses = isUndecided ? await lossesOf(at) : []
  const forgotten = submitted.filter(
    (one) =>
      isForgotten(one, verdicts, prunedBefore) || (!verdicts.has(one.batch.batch_id) && isAcceptedLoss(one, losses)),
  )
  const outcomes = submitted.filter((one) => !forgotten.includes(one)).map((one) => toDecided(at, one, verdicts))

  const repeats = outcomes.filter(({ isTheOneDecided }) => !isTheOneDecided)
  await touchVerdicts(
    connection,
    repeats.map(({ batch }) => batch.batch_id),
    now,
  )
  return { outcomes, entities: taken.entities, forgotten }
}

/** The bodies that the requests of new batches were first decided with; those of new requests too, where there are several lanes. */
const findBodies = (
  connection: Connection,
  { lanes = 1 }: Span,
  fresh: readonly Submitted[],
): Promise<Map<string, Buffer>> => {
  const first = new Map<string, Buffer>()
  for (const { batch } of fresh)
    if (mayBeKeyed(batch.request_id) && !first.has(batch.request_id)) first.set(batch.request_id, batch.body_sha256)
  return lanes === 1 ? findFirstBodies(connection, [...first.keys()]) : claimBodies(connection, first)
}
