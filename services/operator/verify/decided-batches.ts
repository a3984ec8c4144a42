import { findVerdicts, isTheOneDecided, type StoredVerdict } from '#ledger/verdicts.js'
import { readTopics } from '#platform/kafka/read-topics.js'
import { submittedSchema } from '#schemas/derive/avro.js'
import { submittedTopic } from '#schemas/derive/names.js'
import type { SubmittedBatch } from '#schemas/events.js'
import type { RecordType } from '#schemas/record.js'
import { createDecoder } from '../desk/decoder.js'
import type { Subject } from './subject.js'

export type LogPlace = { partition: number; offset: number }
export type DecidedBatch = { batch: SubmittedBatch; verdict: StoredVerdict }

/** The batches at these places of the submitted log with the verdicts that were taken on them, by `partition/offset`. */
export const readDecidedBatches = async (
  { kafka, registry, pool }: Subject,
  type: RecordType,
  places: readonly LogPlace[],
): Promise<Map<string, DecidedBatch>> => {
  const topic = submittedTopic(type.type)
  const wanted = new Set(places.map(({ partition, offset }) => `${partition}/${offset}`))
  const decode = createDecoder<SubmittedBatch>(registry, submittedSchema(type))
  const found = new Map<string, DecidedBatch>()
  await readTopics(kafka, spansOf(topic, places), async ({ partition, messages }) => {
    const batches = new Map<number, SubmittedBatch>()
    for (const { offset, value } of messages) {
      const batch = wanted.has(`${partition}/${offset}`) ? await decode(value) : undefined
      if (batch) batches.set(offset, batch)
    }
    const verdicts = await findVerdicts(
      pool,
      [...batches.values()].map((batch) => batch.batch_id),
    )
    for (const [offset, batch] of batches) {
      const verdict = verdicts.get(batch.batch_id)
      if (verdict && isTheOneDecided(verdict, { topic, partition, offset }))
        found.set(`${partition}/${offset}`, { batch, verdict })
    }
  })
  return found
}

/** One stretch a partition, from its first wanted offset to its last. */
const spansOf = (topic: string, places: readonly LogPlace[]) => {
  const spans = new Map<number, { topic: string; partition: number; from: number; until: number }>()
  for (const { partition, offset } of places) {
    const span = spans.get(partition) ?? { topic, partition, from: offset, until: offset + 1 }
    spans.set(partition, {
      ...span,
      from: Math.min(span.from, offset),
      until: Math.max(span.until, offset + 1),
    })
  }
  return [...spans.values()]
}
