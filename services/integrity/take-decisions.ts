import type { Connection } from '#platform/postgres.js'
import { decideFetch, keyedOf, wantedOf } from './decide-fetch.js'
import type { EntityIndex } from './entity-index.js'
import { freshOnes, type Outcome, refuseHole, type Span, type Submitted, toOutcome } from './fence.js'
import type { Entity } from './sql/find-entities.js'
import { findKeyedInteractions } from './sql/find-keyed-interactions.js'
import { findVerdicts } from './sql/find-verdicts.js'
import { insertKeyedInteractions } from './sql/insert-keyed-interactions.js'
import { insertVerdicts } from './sql/insert-verdicts.js'
import { lockCursor } from './sql/lock-cursor.js'
import { moveCursor } from './sql/move-cursor.js'

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

  const known = await index.findKnown(connection, wantedOf(at.type, fresh))
  const takenBefore = await findKeyedInteractions(connection, keyedOf(at.type, fresh))
  const taken = decideFetch(at, fresh, { known, takenBefore }, now)
  for (const verdict of taken.verdicts) verdicts.set(verdict.batch_id, verdict)

  if (at.isReferenced) await index.add(connection, taken.entities)
  await insertKeyedInteractions(connection, taken.keyed)
  if (taken.verdicts.length > 0) await insertVerdicts(connection, taken.verdicts)
  if (at.next > (cursor ?? 0)) await moveCursor(connection, at.topic, at.partition, at.next)

  return { outcomes: submitted.map((one) => toOutcome(at, one, verdicts)), entities: taken.entities }
}
