import { type Catalogue, catalogue as published } from '../catalogue.js'
import {
  acceptedTopic,
  erasuresTopic,
  integrityGroupOf,
  rejectedTopic,
  sinkGroupOf,
  submittedTopic,
  verdictsTopic,
  waitingTopic,
} from './names.js'

export type Topic = { name: string; partitions: number; config: Record<string, string> }

/**
 * How wide a system is: the lanes that an organisation has in each type's submitted log, and the partitions of its topics. Chosen
 * when a system is first provisioned. Versions are places in these partitions, and a record meets its older writes only in its own lane:
 * so other lanes are a new `generation` of the submitted topics, which begins when all of the one before is decided. 0 where it is not said.
 */
export type Layout = { lanes: number; submittedPartitions: number; acceptedPartitions: number; generation?: number }

/** Where no other was chosen. */
export const usualLayout: Layout = { lanes: 1, submittedPartitions: 4, acceptedPartitions: 4 }

/** Every topic, as it is provisioned. */
export const topicsOf = (catalogue: Catalogue, layout: Layout = usualLayout): Topic[] =>
  declaredTopics(catalogue, layout.generation).map(({ name, config }) => ({
    name,
    partitions: partitionsOf(layout, name),
    config,
  }))

/** How many partitions a topic has. */
export const partitionsOf = (layout: Layout, topic: string): number => {
  if (topic === verdictsTopic || topic === erasuresTopic) return 1
  if (topic.startsWith(submittedTopic(''))) return layout.submittedPartitions
  return layout.acceptedPartitions * (streams.get(topic)?.timesWider ?? 1)
}

const streams = new Map([...published.all.values()].map(({ stream }) => [stream?.topic, stream]))

const declaredTopics = (catalogue: Catalogue, generation?: number): Omit<Topic, 'partitions'>[] => [
  ...[...catalogue.all.values()].flatMap(({ type, stream }) => [
    submitted(submittedTopic(type, generation)),
    {
      name: acceptedTopic(type),
      config: stream
        ? { ...common, 'cleanup.policy': 'delete', 'retention.ms': days(stream.keptDays) }
        : // A late event of a paused publisher may follow a newer one; until compaction `weir verify` can put it right.
          { ...common, 'cleanup.policy': 'compact', 'min.compaction.lag.ms': days(7) },
    },
  ]),
  { name: rejectedTopic, config: { ...common, 'retention.ms': days(90) } },
  { name: verdictsTopic, config: { ...common, 'retention.ms': days(1) } },
  { name: waitingTopic, config: { ...common, 'retention.ms': days(90) } },
  { name: erasuresTopic, config: { ...common, 'cleanup.policy': 'compact', 'min.compaction.lag.ms': days(7) } },
]

/** How many copies have to hold a message before it is acknowledged: more than half, so that it outlives any one broker. */
export const inSyncOf = (copies: number): number => Math.floor(copies / 2) + 1

/** Milliseconds that a topic keeps its messages for. */
export const retentionOf = (catalogue: Catalogue, topic: string): number =>
  Number(topicsOf(catalogue).find(({ name }) => name === topic)?.config['retention.ms'])

type ConsumerGroup = { groupId: string; topics: string[] }

/** Integrity reads in two groups, so that an interaction never waits until a large upload has been decided. */
export const groupsOf = (
  catalogue: Catalogue,
  generation = 0,
): { uploads: ConsumerGroup; interactions: ConsumerGroup } => ({
  uploads: {
    groupId: integrityGroupOf(undefined, generation),
    topics: [...catalogue.uploads.keys()].map((type) => submittedTopic(type, generation)),
  },
  interactions: {
    groupId: integrityGroupOf(catalogue.interaction.type, generation),
    topics: [submittedTopic(catalogue.interaction.type, generation)],
  },
})

/** What the sink reads: in a group of its own the interactions, so that neither they nor the others wait for each other. */
export const sinkGroupsOf = (catalogue: Catalogue): { others: ConsumerGroup; interactions: ConsumerGroup } => ({
  others: {
    groupId: sinkGroupOf(),
    topics: [...[...catalogue.uploads.keys()].map(acceptedTopic), rejectedTopic, waitingTopic],
  },
  interactions: {
    groupId: sinkGroupOf(catalogue.interaction.type),
    topics: [acceptedTopic(catalogue.interaction.type)],
  },
})

/** The submitted topics of a generation. */
export const submittedTopicsOf = (catalogue: Catalogue, generation = 0): string[] =>
  [...catalogue.all.keys()].map((type) => submittedTopic(type, generation))

const days = (n: number): string => String(n * 24 * 60 * 60 * 1000)

const common = {
  // A batch is cut at 512 KiB, but one record may be all of a request's 16 MiB.
  'max.message.bytes': String(32 * 1024 * 1024),
  // Weir sends gzip, which every client reads without a plug-in, and small batches as they are. The broker is to keep it so.
  'compression.type': 'producer',
  // A replica that lacks acknowledged messages never becomes the leader: the partition waits for one that has them all.
  'unclean.leader.election.enable': 'false',
}

const submitted = (name: string): Omit<Topic, 'partitions'> => ({
  name,
  config: { ...common, 'cleanup.policy': 'delete', 'retention.ms': days(90) },
})
