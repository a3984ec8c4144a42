import type { Broker, Cluster } from 'kafkajs'
import { placeOf } from './partitions.js'
import { changingCalls } from './wire/broker-call.js'
import { decodeFetchAnswer } from './wire/fetch-answer.js'

// What kafkajs leaves open to nobody: how a fetch is decoded, and what happens before a consumer joins or leaves its group.
// Each consumer has brokers of its own, so what is changed here holds for that consumer alone.

/** kafkajs has these too; its types leave them out. */
type GroupBroker = Broker & Record<'joinGroup' | 'leaveGroup', (request: unknown) => Promise<unknown>>

export const adjustBrokers = (
  cluster: Cluster,
  deps: {
    /**
     * The most that one fetch unpacks; the record batch that exceeds it is the last one, and the rest is fetched again. Kafka
     * bounds a fetch by compressed bytes only: 512 KiB of texts that repeat themselves were 83 MiB, of small records 578 000.
     */
    bytesPerFetch: number
    /** How many milliseconds Kafka may hold the next fetch back at the most. */
    longestWait: () => number
    /** Awaited before the group may give this consumer's partitions to somebody else. */
    beforeGroupChange: () => Promise<void>
  },
): void => {
  const adjusted = new WeakSet<Broker>()
  const find = cluster.findBroker.bind(cluster)
  cluster.findBroker = async (node) => {
    const broker = (await find(node)) as GroupBroker
    if (adjusted.has(broker)) return broker
    adjusted.add(broker)
    const { fetch, joinGroup, leaveGroup } = broker
    broker.fetch = (request) => {
      const maxWaitTime = Math.min(request.maxWaitTime ?? Number.POSITIVE_INFINITY, deps.longestWait())
      const offsets = new Map(
        request.topics.flatMap(({ topic, partitions }) =>
          partitions.map(({ partition, fetchOffset }) => [placeOf({ topic, partition }), Number(fetchOffset)]),
        ),
      )
      const decoding = changingCalls(broker, (call) => {
        const asked = { version: call.request.apiVersion, offsets, bytes: deps.bytesPerFetch }
        return { ...call, response: { ...call.response, decode: (answer) => decodeFetchAnswer(answer, asked) } }
      })
      return fetch.call(decoding, { ...request, maxWaitTime })
    }
    broker.joinGroup = async (request) => {
      await deps.beforeGroupChange()
      return joinGroup.call(broker, request)
    }
    broker.leaveGroup = async (request) => {
      await deps.beforeGroupChange()
      return leaveGroup.call(broker, request)
    }
    return broker
  }
}
