import { partitionOfRecord } from '#ledger/layout/layout.js'
import type { SentWait } from '#ledger/waiting/relay.js'
import { partitionOf, type TopicPartition } from '#platform/kafka/partitions.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { submittedTopic } from '#schemas/derive/names.js'
import type { Layout } from '#schemas/derive/topics.js'

/**
 * The lane that a waiting record is sent to: where it began to wait, or, since the lanes were changed, where records of its id are
 * decided now. An interaction has no lane but its own id: with an Idempotency-Key it has to meet itself.
 */
export const createLanePlace =
  ({ interaction }: Catalogue, layout: () => Layout) =>
  ({ topic, partition, type, orgId, id }: SentWait): TopicPartition => {
    const open = layout()
    const now = submittedTopic(type, open.generation)
    if (topic === now) return { topic, partition }
    const own =
      type === interaction.type ? partitionOf(id, open.submittedPartitions) : partitionOfRecord(orgId, id, open)
    return { topic: now, partition: own }
  }
