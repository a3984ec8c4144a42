import { pino } from 'pino'
import { createKafka } from '#platform/kafka/kafka.js'
import { partitionOfLane } from '#platform/kafka/partitions.js'
import { createRegistry } from '#platform/registry.js'
import { submittedSchema } from '#schemas/derive/avro.js'
import { subjectOf, submittedKey, submittedTopic } from '#schemas/derive/names.js'
import { partitionsOf, usualLayout } from '#schemas/derive/topics.js'
import type { SubmittedBatch } from '#schemas/events.js'
import type { RecordType } from '#schemas/record.js'
import { batchOf } from '../batch.js'

/** Writes a batch to the log, as the edge writes one whose records may wait; in a system with one lane. */
export const submitWaiting = async (
  env: { KAFKA_BROKERS: string; SCHEMA_REGISTRY_URL: string },
  org: string,
  type: RecordType,
  records: Record<string, unknown>[],
  waitMs = 600_000,
): Promise<SubmittedBatch> => {
  const topic = submittedTopic(type.type)
  const now = Date.now()
  const batch = batchOf(type, records, { org_id: org, submitted_at: now, wait_until: now + waitMs })
  const registry = createRegistry(env.SCHEMA_REGISTRY_URL)
  const encode = await registry.encoder<SubmittedBatch>(subjectOf(topic), submittedSchema(type))
  const kafka = createKafka({ brokers: env.KAFKA_BROKERS, clientId: 'submit', log: pino({ level: 'silent' }) })
  const producer = await kafka.createProducer()
  try {
    const partition = partitionOfLane(org, 0, partitionsOf(usualLayout, topic))
    await producer.send(topic, partition, [{ key: submittedKey(batch), value: encode(batch) }])
  } finally {
    await producer.close()
  }
  return batch
}
