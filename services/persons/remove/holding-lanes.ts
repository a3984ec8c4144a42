import { setTimeout as wait } from 'node:timers/promises'
import { findCursor } from '#ledger/cursors.js'
import { type Generation, toDecide } from '#ledger/layout/layout.js'
import { committedByPlace } from '#platform/kafka/committed-offsets.js'
import type { Kafka } from '#platform/kafka/kafka.js'
import { placeOf } from '#platform/kafka/partitions.js'
import { stretchesOf } from '#platform/kafka/read-topics.js'
import { type Connection, inTransaction, type Pool } from '#platform/postgres/postgres.js'
import * as names from '#schemas/derive/names.js'
import { hasVersions, type RecordType } from '#schemas/record.js'

type LaneDeps = { pool: Pool; kafka: Kafka; generations: readonly Generation[]; signal: AbortSignal }

/**
 * Of how many records events are published while lanes are held. Until the sink has read what came before takes half a second each time, and
 * ClickHouse looks through the whole log for any number of them; more would not fit into the address of its request.
 */
export const keysAtOnce = 5_000

// Meanwhile uploads of the type wait.
const heldAtMost = 8_000
// Whoever sleeps longer in a transaction Postgres throws out, and integrity goes on.
const thrownOutAfter = 60_000
const margin = 10_000

/**
 * Runs work while integrity decides nothing of a type, and all that it has decided is published and stored: so that what the work publishes is
 * behind every older event of a record, and before every newer one. After the moment `until` (as of performance.now()) it may publish nothing more.
 */
export const holdingLanes = async (
  deps: LaneDeps,
  type: RecordType,
  work: (connection: Connection, until: number) => Promise<void>,
): Promise<void> => {
  // Interactions come once: there is no newer event of one.
  const generation = hasVersions(type) ? toDecide(deps.generations) : undefined
  for (;;) {
    const isDone = await inTransaction(deps.pool, async (connection) => {
      await connection.query(`set local idle_in_transaction_session_timeout = ${thrownOutAfter}`)
      const until = performance.now() + thrownOutAfter - margin
      if (
        generation &&
        !(await isStored(deps, type, generation.generation, await holdLanes(connection, type, generation)))
      )
        return false
      await work(connection, until)
      return true
    })
    if (isDone) return
    await wait(1_000, undefined, { signal: deps.signal })
  }
}

/** Resolves to how far each partition is decided, by place: until the transaction ends it is decided no further. */
const holdLanes = async (
  connection: Connection,
  type: RecordType,
  { generation, submittedPartitions }: Generation,
): Promise<Map<string, number>> => {
  const topic = names.submittedTopic(type.type, generation)
  const nexts = new Map<string, number>()
  for (let partition = 0; partition < submittedPartitions; partition++)
    nexts.set(placeOf({ topic, partition }), (await findCursor(connection, { topic, partition }))?.next ?? 0)
  return nexts
}

/** Waits for a moment until what is decided is published and in ClickHouse. */
const isStored = async (
  { kafka, signal }: LaneDeps,
  type: RecordType,
  generation: number,
  nexts: ReadonlyMap<string, number>,
): Promise<boolean> => {
  const accepted = names.acceptedTopic(type.type)
  for (const deadline = performance.now() + heldAtMost; performance.now() < deadline; ) {
    signal.throwIfAborted()
    const published = await committedByPlace(kafka, [
      { groupId: names.integrityGroupOf(type.type, generation), topics: [names.submittedTopic(type.type, generation)] },
    ])
    if ([...nexts].every(([place, next]) => (published.get(place) ?? 0) >= next)) {
      const stored = await committedByPlace(kafka, [{ groupId: names.sinkGroupOf(type.type), topics: [accepted] }])
      const ends = await stretchesOf(kafka, [accepted])
      if (ends.every((end) => (stored.get(placeOf(end)) ?? 0) >= end.until || end.until === end.from)) return true
    }
    await wait(50, undefined, { signal })
  }
  return false
}
