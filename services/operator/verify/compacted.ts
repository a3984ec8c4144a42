import { readTopics, stretchesOf } from '#platform/kafka/read-topics.js'
import { mostRecordsInBatch } from '#schemas/derive/decided-events.js'
import { acceptedTopic } from '#schemas/derive/names.js'
import { topicsOf } from '#schemas/derive/topics.js'
import type { RecordType } from '#schemas/record.js'
import { createAcceptedDecoder } from '../desk/decoder.js'
import { type Expected, fate, markOf, missingOf } from './expectations.js'
import { readFrom, type Subject, type TypeUnder } from './subject.js'

/**
 * Compaction takes away an event that a newer one of its key has replaced. Where a missing event is old enough for that, the
 * topic is read once more to see whether there is such a newer one; then nothing more is expected of it.
 */
export const forgiveCompacted = async (subject: Subject, { type, figures, expectations }: TypeUnder): Promise<void> => {
  const lag = compactionLagOf(subject, type)
  if (lag === undefined) return
  const old = [...expectations.all()].filter(
    (expected) => expected.decidedAt < subject.now - lag && missingOf(expected, 'accepted').length > 0,
  )
  if (old.length === 0) return
  const highest = await highestOf(subject, type, marksOf(old))
  for (const expected of old) {
    for (const index of missingOf(expected, 'accepted')) {
      const version = expected.offset * mostRecordsInBatch + index
      if ((highest.get(expected.marks[index] ?? 0) ?? 0) <= version) continue
      expected.fates[index] = fate.none
      figures.compacted++
    }
  }
}

const compactionLagOf = ({ catalogue }: Subject, type: RecordType): number | undefined => {
  const config = topicsOf(catalogue).find(({ name }) => name === acceptedTopic(type.type))?.config ?? {}
  return config['cleanup.policy'] === 'compact' ? Number(config['min.compaction.lag.ms']) : undefined
}

const marksOf = (old: readonly Expected[]): Set<number> =>
  new Set(old.flatMap((expected) => missingOf(expected, 'accepted').map((index) => expected.marks[index] ?? 0)))

/** The highest version on the topic of each key with one of these marks. */
const highestOf = async (
  subject: Subject,
  type: RecordType,
  marks: ReadonlySet<number>,
): Promise<Map<number, number>> => {
  const { kafka } = subject
  const decode = createAcceptedDecoder(subject.registry, type)
  const highest = new Map<number, number>()
  await readTopics(
    kafka,
    await stretchesOf(kafka, [acceptedTopic(type.type)], readFrom(subject)),
    async ({ messages }) => {
      for (const { key, value } of messages) {
        const mark = markOf(key ?? '')
        const head = marks.has(mark) ? await decode(value) : undefined
        if (head) highest.set(mark, Math.max(highest.get(mark) ?? 0, head.version))
      }
    },
  )
  return highest
}
