import type { Catalogue } from '../catalogue.js'
import { acceptedTopic, rejectedTopic, submittedTopic, verdictsTopic } from './names.js'

export type Topic = { name: string; partitions: number; config: Record<string, string> }

const days = (n: number): string => String(n * 24 * 60 * 60 * 1000)
// A batch is cut at 512 KiB, but one record may be all of a request's 16 MiB.
const largestMessage = String(32 * 1024 * 1024)

// Versions are positions in the submitted log, and an organisation's batches share a partition, so counts never change.
const uploadPartitions = 4
const interactionPartitions = 12

/** GZIP, because every Kafka client reads it without a plug-in, kafkajs included. */
const common = { 'max.message.bytes': largestMessage, 'compression.type': 'gzip' }

export const topicsOf = (catalogue: Catalogue): Topic[] => [
  ...[...catalogue.uploads.keys()].flatMap((type) => [
    submitted(submittedTopic(type)),
    {
      name: acceptedTopic(type),
      partitions: uploadPartitions,
      // A late event of a paused publisher may follow a newer one; until compaction `weir verify` can put it right.
      config: { ...common, 'cleanup.policy': 'compact', 'min.compaction.lag.ms': days(7) },
    },
  ]),
  submitted(submittedTopic(catalogue.interaction.type)),
  {
    name: acceptedTopic(catalogue.interaction.type),
    partitions: interactionPartitions,
    config: { ...common, 'cleanup.policy': 'delete', 'retention.ms': days(365) },
  },
  { name: rejectedTopic, partitions: uploadPartitions, config: { ...common, 'retention.ms': days(90) } },
  { name: verdictsTopic, partitions: 1, config: { ...common, 'retention.ms': days(1) } },
]

/** How many partitions a topic has. */
export const partitionsOf = (catalogue: Catalogue, topic: string): number =>
  topicsOf(catalogue).find(({ name }) => name === topic)?.partitions ?? 1

/** Milliseconds that a topic keeps its messages for. */
export const retentionOf = (catalogue: Catalogue, topic: string): number =>
  Number(topicsOf(catalogue).find(({ name }) => name === topic)?.config['retention.ms'])

const submitted = (name: string): Topic => ({
  name,
  partitions: uploadPartitions,
  config: { ...common, 'cleanup.policy': 'delete', 'retention.ms': days(90) },
})
