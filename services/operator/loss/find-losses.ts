import { decidedUntil, findAcceptedLosses, findCursors, findPrunedBefore } from '#ledger/cursors.js'
import { isAcceptedLoss, isTheDecided, type Submitted } from '#ledger/fence.js'
import { findGenerations, toDecide } from '#ledger/layout/layout.js'
import { type DecidedBatchAt, findDecidedBetween, findVerdicts } from '#ledger/verdicts.js'
import { committedByPlace, type Group } from '#platform/kafka/committed-offsets.js'
import { placeOf } from '#platform/kafka/partitions.js'
import { readTopics, type Stretch, stretchesOf } from '#platform/kafka/read-topics.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { isClosingMark } from '#schemas/closing-mark.js'
import { submittedSchema } from '#schemas/derive/avro.js'
import { typeOfSubmitted } from '#schemas/derive/names.js'
import { groupsOf } from '#schemas/derive/topics.js'
import { recordsIn, type SubmittedBatch } from '#schemas/events.js'
import { createDecoder } from '../command/decoder.js'
import type { Parts } from '../command/servers.js'

/** A partition of the submitted log that does not fit what Postgres knows of it, from one offset up to but without another. */
export type Loss = {
  /** Who lost it: Kafka messages that were decided, or Postgres decisions that were published. */
  by: 'Kafka' | 'Postgres'
  topic: string
  partition: number
  groupId: string
  from: number
  until: number
  /** Batches that were decided there and are no longer in the log. */
  decided: DecidedBatchAt[]
  /** Batches that lie there now and were never decided. */
  undecided: DecidedBatchAt[]
}

export type LossDeps = Omit<Parts, 'clickhouse'> & { catalogue: Catalogue }
type Partition = Stretch & { groupId: string; cursor: number }

/** Compares the end of every partition of the submitted log with the cursors and verdicts. */
export const findLosses = async (deps: LossDeps): Promise<Loss[]> => {
  // What is finished is published, and its topics may be gone.
  const generation = toDecide(await findGenerations(deps.pool))?.generation
  const groups: Group[] = Object.values(groupsOf(deps.catalogue, generation))
  // In this order, so that what is submitted, decided and published meanwhile is no loss.
  const committed = await committedByPlace(deps.kafka, groups)
  const cursors = await findCursors(deps.pool)
  const topics = groups.flatMap((group) => group.topics)
  const stretches = await stretchesOf(deps.kafka, topics)
  const partitions = stretches.flatMap((stretch): Partition[] => {
    const cursor = decidedUntil(cursors, stretch, stretch.from)
    const groupId = groups.find(({ topics }) => topics.includes(stretch.topic))?.groupId ?? ''
    return cursor === undefined ? [] : [{ ...stretch, groupId, cursor }]
  })
  const losses: Loss[] = []
  for (const one of partitions) {
    const { topic, partition, groupId, cursor } = one
    const published = committed.get(placeOf(one)) ?? 0
    if (published > cursor && one.from <= cursor) {
      const until = Math.min(published, one.until)
      losses.push({ by: 'Postgres', topic, partition, groupId, from: cursor, until, decided: [], undecided: [] })
    }
  }
  const wentBack = new Set(losses.map(placeOf))
  const left = partitions.filter((one) => !wentBack.has(placeOf(one)))
  // Of most partitions, one look at the last message below the cursor is enough: all of them in one reading.
  const tails = left.map((one) => tailOf(one, 1))
  const suspicious = await misfitsOf(deps, tails)
  for (const one of left) {
    const isCut = one.until < one.cursor || (suspicious.get(placeOf(one))?.length ?? 0) > 0
    if (isCut) losses.push(await describeCut(deps, one))
  }
  return losses
}

/** The last `size` messages below the cursor that the log has. */
const tailOf = ({ topic, partition, from, until, cursor }: Partition, size: number): Stretch => {
  const end = Math.min(until, cursor)
  return { topic, partition, from: Math.max(from, end - size), until: end }
}

const describeCut = async (deps: LossDeps, one: Partition): Promise<Loss> => {
  const { topic, partition, groupId, cursor } = one
  for (let size = 64; ; size *= 16) {
    const tail = tailOf(one, size)
    const undecided = (await misfitsOf(deps, [tail])).get(placeOf(one)) ?? []
    const from = undecided[0]?.offset ?? tail.until
    // All that was looked at is foreign: the cut lies further back.
    if (from === tail.from && tail.from > one.from) continue
    const decided = await findDecidedBetween(deps.pool, { topic, partition, from, until: cursor })
    return { by: 'Kafka', topic, partition, groupId, from, until: cursor, decided, undecided }
  }
}

/** Hands over the batches in these stretches, as far as they can be read. */
const readBatches = async (
  { kafka, registry, catalogue }: LossDeps,
  stretches: readonly Stretch[],
  onBatches: (at: Pick<Stretch, 'topic' | 'partition'>, submitted: Submitted[]) => Promise<void>,
): Promise<void> => {
  const decoders = new Map(
    [...catalogue.all.values()].map((type) => [
      type.type,
      createDecoder<SubmittedBatch>(registry, submittedSchema(type)),
    ]),
  )
  await readTopics(kafka, stretches, async ({ topic, partition, messages }) => {
    const submitted: Submitted[] = []
    for (const { offset, timestamp, value } of messages) {
      const batch = isClosingMark(value) ? undefined : await decoders.get(typeOfSubmitted(topic))?.(value)
      if (batch) submitted.push({ offset, timestamp, batch })
    }
    await onBatches({ topic, partition }, submitted)
  })
}

const describeBatch = ({ offset, batch }: Submitted): DecidedBatchAt => {
  const { batch_id, request_id, org_id } = batch
  return { offset, batch_id, request_id, org_id, records: recordsIn(batch) }
}

/** The batches of uploaders that have come to a lost stretch since it was looked at. */
export const findLateOnes = async (deps: LossDeps, loss: Loss): Promise<DecidedBatchAt[]> => {
  const found: DecidedBatchAt[] = []
  const from = (loss.undecided.at(-1)?.offset ?? loss.from - 1) + 1
  await readBatches(deps, [{ ...loss, from }], async (_, submitted) => {
    found.push(...submitted.filter(({ batch }) => recordsIn(batch) > 0).map(describeBatch))
  })
  return found
}

/** The batches in these stretches, all below their cursors, that are not the ones that were decided there. */
const misfitsOf = async (deps: LossDeps, stretches: readonly Stretch[]): Promise<Map<string, DecidedBatchAt[]>> => {
  const { pool } = deps
  const found = new Map<string, DecidedBatchAt[]>()
  await readBatches(deps, stretches, async ({ topic, partition }, submitted) => {
    const [first, last] = [submitted[0]?.offset ?? 0, submitted.at(-1)?.offset ?? 0]
    const there = await findDecidedBetween(pool, { topic, partition, from: first, until: last + 1 })
    const decidedAt = new Map(there.map(({ offset, batch_id }) => [offset, batch_id]))
    const batchIds = submitted.map(({ batch }) => batch.batch_id)
    const verdicts = await findVerdicts(pool, batchIds)
    const prunedBefore = await findPrunedBefore(pool, { topic, partition })
    const losses = await findAcceptedLosses(pool, { topic, partition })
    const misfits = submitted.filter(
      (one) => !isAcceptedLoss(one, losses) && !isTheDecided(one, decidedAt.get(one.offset), verdicts, prunedBefore),
    )
    const place = placeOf({ topic, partition })
    found.set(place, [...(found.get(place) ?? []), ...misfits.map(describeBatch)])
  })
  return found
}
