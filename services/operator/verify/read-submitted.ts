import { decidedUntil } from '#ledger/cursors.js'
import { isAcceptedLoss, isForgotten, type Submitted } from '#ledger/fence.js'
import { isTheOneDecided, type StoredVerdict } from '#ledger/verdicts.js'
import { placeOf } from '#platform/kafka/partitions.js'
import type { Stretch } from '#platform/kafka/read-topics.js'
import { isClosingMark } from '#schemas/closing-mark.js'
import { submittedSchema } from '#schemas/derive/avro.js'
import { newlyAccepted } from '#schemas/derive/decided-events.js'
import { orgOfKey, submittedTopic, typeOfSubmitted } from '#schemas/derive/names.js'
import { recordsIn, type SubmittedBatch } from '#schemas/events.js'
import { createDecoder } from '../command/decoder.js'
import { checkDecidedAnew, type WaitingBatch } from './checks/check-waits.js'
import { expect } from './expectations.js'
import type { CheckedType, Subject } from './subject.js'

/**
 * Compares the submitted log with the verdicts, and notes what must come of every batch. `published`: up to where integrity
 * had committed before. Resolves to the batches of which records began to wait.
 */
export const readSubmitted = async (
  subject: Subject,
  published: ReadonlyMap<string, number>,
): Promise<WaitingBatch[]> => {
  const { topics, decisions, registry, types } = subject
  // Asked before the verdicts are read: by then, every batch below its cursor has its verdict.
  const cursors = await decisions.cursors()
  const stretches = await submittedStretches(subject)
  const progress = subject.progress('submitted', countOf(stretches))
  const readers = new Map(
    [...types.values()].map((one) => [
      one.type.type,
      { one, decode: createDecoder<SubmittedBatch>(registry, submittedSchema(one.type), { whole: true }) },
    ]),
  )
  const waiting: WaitingBatch[] = []
  await topics.read(stretches, async ({ topic, partition, messages }) => {
    const reader = readers.get(typeOfSubmitted(topic))
    if (!reader) throw new Error(`${topic} was not asked for`)
    const place = placeOf({ topic, partition })
    const found: Submitted[] = []
    for (const { offset, timestamp, key, value } of messages) {
      if (!value || isClosingMark(value) || (subject.org !== undefined && orgOfKey(key ?? '') !== subject.org)) continue
      const batch = await reader.decode(value)
      if (batch) found.push({ offset, timestamp, batch })
      else reader.one.counts.unreadable++
    }
    const cursor = cursors.get(place) ?? 0
    const decided = found.filter(({ offset }) => offset < cursor)
    const verdicts = await decisions.verdicts(decided.map(({ batch }) => batch.batch_id))
    // Asked after the verdicts were read: a verdict that was pruned in between does not count as missing.
    const isShort = decided.some(({ batch }) => !verdicts.has(batch.batch_id))
    const prunedBefore = isShort ? await decisions.prunedBefore({ topic, partition }) : undefined
    const losses = isShort ? await decisions.acceptedLosses({ topic, partition }) : []
    const isLost = (each: Submitted) => !verdicts.has(each.batch.batch_id) && isAcceptedLoss(each, losses)
    await checkDecidedAnew(subject, reader.one, { topic, partition }, decided, verdicts)
    const end = Math.min(cursor, stretches.find((each) => placeOf(each) === place)?.until ?? 0)
    for (const each of found) {
      const { counts } = reader.one
      const { resumed = [] } = each.batch
      counts.batches++
      counts.records += recordsIn(each.batch) - resumed.length
      if (each.offset >= cursor) {
        counts.waiting += recordsIn(each.batch) - resumed.length
        const known = decidedUntil(cursors, { topic, partition }, 0)
        if (known !== undefined && each.offset < (published.get(place) ?? 0)) {
          const where = `batch ${each.batch.batch_id} at ${place}@${each.offset}`
          const found = `Postgres knows this partition up to ${cursor}`
          subject.differences.add({ kind: 'decision_forgotten', type: reader.one.type.type, where, found })
        }
      } else if (isForgotten(each, verdicts, prunedBefore) || isLost(each)) counts.forgotten++
      else {
        note(subject, reader.one, { topic, partition }, each, verdicts, published.get(place) ?? 0)
        const begun = resumed.length > 0 ? [] : begunIn(verdicts.get(each.batch.batch_id))
        if (begun.length > 0)
          waiting.push({ one: reader.one, partition, batchId: each.batch.batch_id, places: begun, end })
      }
    }
    progress.advance(messages.length)
  })
  progress.end()
  return waiting
}

/** The places of records that began to wait with this verdict; not of those that came again while they wait. */
const begunIn = (verdict: StoredVerdict | undefined): number[] => {
  const repeated = new Set(verdict?.repeated)
  return (verdict?.waiting ?? []).map(({ index }) => index).filter((index) => !repeated.has(index))
}

const note = (
  subject: Subject,
  { type, counts, expectations }: CheckedType,
  { topic, partition }: { topic: string; partition: number },
  { offset, batch }: Submitted,
  verdicts: ReadonlyMap<string, StoredVerdict>,
  published: number,
): void => {
  const verdict = verdicts.get(batch.batch_id)
  const where = `batch ${batch.batch_id} at ${topic}/${partition}@${offset}`
  if (!verdict) {
    subject.differences.add({ kind: 'verdict_missing', type: type.type, where, found: 'no verdict is stored' })
    return
  }
  const place = { partition, offset, isInFlight: offset >= published }
  if (!isTheOneDecided(verdict, { topic, partition, offset })) {
    counts.repeats++
    expectations.add(expect(place, batch, null, type.id))
    return
  }
  const [waiting, gone] = [verdict.waiting?.length ?? 0, verdict.gone?.length ?? 0]
  if (verdict.accepted + verdict.refused.length + waiting + gone !== recordsIn(batch)) {
    const rest = waiting + gone > 0 ? `, ${waiting} waiting, ${gone} gone` : ''
    const found = `${verdict.accepted} accepted and ${verdict.refused.length} refused${rest} of ${recordsIn(batch)} records`
    subject.differences.add({ kind: 'verdict_disagrees', type: type.type, where, found })
    return
  }
  counts.accepted += newlyAccepted(batch, verdict).length
  counts.refused += verdict.refused.length
  expectations.add(expect(place, batch, verdict, type.id))
}

/** The range, by the time at which the edge sent a batch. */
const submittedStretches = async ({ topics, types, layouts, range }: Subject): Promise<Stretch[]> => {
  const names = layouts.flatMap(({ generation }) => [...types.keys()].map((type) => submittedTopic(type, generation)))
  const stretches = await topics.stretches(names, range.since)
  if (range.until === undefined) return stretches
  const ends = new Map((await topics.stretches(names, range.until)).map((end) => [placeOf(end), end.from]))
  return stretches.map((stretch) => ({ ...stretch, until: ends.get(placeOf(stretch)) ?? stretch.until }))
}

/** How many messages these stretches hold at the most. */
export const countOf = (stretches: readonly Stretch[]): number =>
  stretches.reduce((sum, { from, until }) => sum + Math.max(0, until - from), 0)
