import { acceptedTopic, rejectedTopic } from '#schemas/derive/names.js'
import { topicsOf } from '#schemas/derive/topics.js'
import type { RecordType } from '#schemas/record.js'
import { versionOf } from '#schemas/version.js'
import { createAcceptedDecoder } from '../../command/decoder.js'
import { type ExpectedBatch, fate, markOf, missingOf } from '../expectations.js'
import { type CheckedType, clockMargin, readFrom, type Subject } from '../subject.js'

/** Notes every record whose event was expected and is not on its topic, unless the event may still be on its way. */
export const noteMissing = (
  { differences }: Pick<Subject, 'differences'>,
  { type, counts, expectations }: CheckedType,
  which: 'accepted' | 'refused',
): void => {
  const kind = which === 'accepted' ? 'event_missing' : 'rejection_missing'
  const topic = which === 'accepted' ? acceptedTopic(type.type) : rejectedTopic
  for (const expected of expectations.all()) {
    for (const index of missingOf(expected, which)) {
      if (expected.isInFlight) counts.inFlight++
      else {
        const where = `record ${index} of batch ${expected.batchId}`
        differences.add({ kind, type: type.type, where, found: `not on ${topic}` })
      }
    }
  }
}

/** Compaction removes the events of a record that is gone, and none of them is to be published again. */
export const forgiveGone = ({ counts, expectations, gone }: CheckedType): void => {
  if (gone.size === 0) return
  for (const expected of expectations.all()) {
    for (const index of missingOf(expected, 'accepted')) {
      const goneAt = gone.get(expected.marks[index] ?? 0)
      if (goneAt === undefined || expected.decidedAt > goneAt + clockMargin) continue
      expected.fates[index] = fate.none
      counts.gone++
    }
  }
}

/** A missing event may be compacted away: where a newer one of its key is on the topic, it is expected no longer. */
export const forgiveCompacted = async (
  subject: Subject,
  { type, counts, expectations }: CheckedType,
): Promise<void> => {
  const lag = compactionLagOf(subject, type)
  if (lag === undefined) return
  // An erasure has Kafka compact at once what the lag would keep.
  const compactedUntil = Math.max(subject.now - lag, (await subject.decisions.erasedAt()) ?? 0)
  const old = [...expectations.all()].filter(
    (expected) => expected.decidedAt < compactedUntil && missingOf(expected, 'accepted').length > 0,
  )
  if (old.length === 0) return
  const highest = await highestOf(subject, type, marksOf(old))
  for (const expected of old) {
    for (const index of missingOf(expected, 'accepted')) {
      const version = versionOf(expected.offset, index)
      if ((highest.get(expected.marks[index] ?? 0) ?? 0) <= version) continue
      expected.fates[index] = fate.none
      counts.compacted++
    }
  }
}

const compactionLagOf = ({ catalogue }: Subject, type: RecordType): number | undefined => {
  const config = topicsOf(catalogue).find(({ name }) => name === acceptedTopic(type.type))?.config ?? {}
  return config['cleanup.policy'] === 'compact' ? Number(config['min.compaction.lag.ms']) : undefined
}

const marksOf = (old: readonly ExpectedBatch[]): Set<number> =>
  new Set(old.flatMap((expected) => missingOf(expected, 'accepted').map((index) => expected.marks[index] ?? 0)))

/** The highest version on the topic of each key with one of these marks. */
const highestOf = async (
  subject: Subject,
  type: RecordType,
  marks: ReadonlySet<number>,
): Promise<Map<number, number>> => {
  const decode = createAcceptedDecoder(subject.registry, type)
  const highest = new Map<number, number>()
  const stretches = await subject.topics.stretches([acceptedTopic(type.type)], readFrom(subject))
  await subject.topics.read(stretches, async ({ messages }) => {
    for (const { key, value } of messages) {
      const mark = markOf(key ?? '')
      const head = marks.has(mark) ? await decode(value) : undefined
      if (head) highest.set(mark, Math.max(highest.get(mark) ?? 0, head.version))
    }
  })
  return highest
}
