import kafkajs, { type Broker, type Cluster, type PartitionAssigner } from 'kafkajs'
import { type Assignee, assignPartitions } from './assignment.js'
import { createFetch } from './wire/fetch-session.js'

// What kafkajs lets no caller choose: how a fetch is decoded, what happens before a consumer joins or leaves its group, what it does where
// its coordinator cannot write or has moved, and who gets which partition.
// Each consumer has brokers of its own, so what is changed here holds for that consumer alone.

/** kafkajs has these too; its types leave them out. */
type GroupBroker = Broker &
  Record<'joinGroup' | 'leaveGroup' | (typeof groupCalls)[number], (request: unknown) => Promise<unknown>>
const groupCalls = ['syncGroup', 'heartbeat', 'offsetCommit'] as const

type GroupCluster = Cluster & { findGroupCoordinator: (group: { groupId: string }) => Promise<Broker> }

export const adjustBrokers = (
  cluster: Cluster,
  deps: {
    /** The most that a fetch unpacks: Kafka bounds it by compressed bytes only, and 512 KiB of repeated texts were 83 MiB. */
    bytesPerFetch: number
    /** Whether it fetches again and again, and not once or twice. */
    inSession: boolean
    /** How many milliseconds Kafka may hold the next fetch back at the most. */
    longestWait: () => number
    /** Awaited before the group may give this consumer's partitions to another one. */
    beforeGroupChange: () => Promise<void>
  },
): void => {
  const adjusted = new WeakSet<Broker>()
  /** A commit to each broker, which says so where it is not the coordinator. */
  const commitTo = new WeakMap<Broker, (request: unknown) => Promise<unknown>>()
  const find = cluster.findBroker.bind(cluster)
  cluster.findBroker = async (node) => {
    const broker = (await find(node)) as GroupBroker
    if (adjusted.has(broker)) return broker
    adjusted.add(broker)
    const { joinGroup, leaveGroup } = broker
    const fetch = createFetch(broker, deps)
    broker.fetch = (request) => {
      const maxWaitTime = Math.min(request.maxWaitTime ?? Number.POSITIVE_INFINITY, deps.longestWait())
      return fetch({ ...request, maxWaitTime })
    }
    broker.joinGroup = async (request) => {
      await deps.beforeGroupChange()
      return joinGroup.call(broker, request).catch(asMoved)
    }
    for (const name of groupCalls) {
      const call = broker[name]
      broker[name] = (request) => call.call(broker, request).catch(asMoved)
    }
    // While a group's coordinator moves, a consumer of kafkajs may fail to join again and go on as the member that it was: its heartbeats go
    // to the new coordinator, and its commits to the old one for ever. So a commit to the wrong broker is sent to the right one.
    const commit = broker.offsetCommit
    commitTo.set(broker, commit)
    broker.offsetCommit = (request) =>
      commit(request).catch(async (error: { type?: string }) => {
        if (error.type !== 'NOT_COORDINATOR_FOR_GROUP') throw error
        const { groupId } = request as { groupId: string }
        const coordinator = await (cluster as GroupCluster).findGroupCoordinator({ groupId })
        const commitThere = commitTo.get(coordinator)
        if (coordinator === broker || !commitThere) throw error
        return commitThere(request)
      })
    broker.leaveGroup = async (request) => {
      await deps.beforeGroupChange()
      return leaveGroup.call(broker, request)
    }
    return broker
  }
}

/**
 * A coordinator that is cut off from the other brokers answers that it is not available, for as long as it is asked. kafkajs would ask it
 * again and again, for a minute or two; from one that says it is the coordinator no more, it goes and finds the one that is.
 */
const asMoved = (error: unknown): never => {
  const { type, message } = error as { type?: string; message: string }
  if (type !== 'GROUP_COORDINATOR_NOT_AVAILABLE') throw error
  const moved = { name: 'KafkaJSProtocolError', message, code: 16, type: 'NOT_COORDINATOR_FOR_GROUP', retriable: true }
  throw new kafkajs.KafkaJSProtocolError(moved)
}

/** The partitions that a consumer had until now, by topic, and since when, in milliseconds. */
export type Had = { partitions: Readonly<Record<string, readonly number[]>>; since: number }

/** Goes by `assignPartitions`. Each member says what it had when it joins again; the group's leader decides. */
export const createAssigner =
  (had: () => Had): PartitionAssigner =>
  ({ cluster }) => ({
    name: 'WeirAssigner',
    version: 0,
    protocol: ({ topics }) => ({
      name: 'WeirAssigner',
      metadata: MemberMetadata.encode({ version: 0, topics, userData: Buffer.from(JSON.stringify(had())) }),
    }),
    assign: async ({ members, topics }) => {
      const numbersOf = (topic: string) => cluster.findTopicPartitionMetadata(topic).map((each) => each.partitionId)
      const partitions = new Map(topics.map((topic) => [topic, numbersOf(topic)]))
      const assignees = members.map(({ memberId, memberMetadata }) => readAssignee(memberId, memberMetadata))
      return [...assignPartitions(partitions, assignees)].map(([memberId, places]) => {
        const assignment: Record<string, number[]> = {}
        for (const { topic, partition } of places) assignment[topic] = [...(assignment[topic] ?? []), partition]
        return { memberId, memberAssignment: MemberAssignment.encode({ version: 0, assignment, userData: nothing }) }
      })
    },
  })

const { MemberMetadata, MemberAssignment } = kafkajs.AssignerProtocol
const nothing = Buffer.alloc(0)

const readAssignee = (id: string, metadata: Buffer): Assignee => {
  const { partitions, since }: Had = JSON.parse(String(MemberMetadata.decode(metadata)?.userData))
  return { id, since, had: placesIn(partitions) }
}

/** Partitions by topic, one by one. */
export const placesIn = (partitions: Had['partitions']): { topic: string; partition: number }[] =>
  Object.entries(partitions).flatMap(([topic, numbers]) => numbers.map((partition) => ({ topic, partition })))
