import { AsyncLocalStorage } from 'node:async_hooks'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Broker, Cluster } from 'kafkajs'

// What kafkajs leaves open to nobody: how much a fetch unpacks, and what happens before a consumer joins or leaves its group.
// Each consumer has brokers of its own, so what is changed here holds for that consumer alone.

/** kafkajs has these too; its types leave them out. */
type GroupBroker = Broker & Record<'joinGroup' | 'leaveGroup', (request: unknown) => Promise<unknown>>

export const adjustBrokers = (
  cluster: Cluster,
  deps: {
    /** The most that one fetch unpacks; the record batch that exceeds it is the last one. */
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
      return unpacking.run({ left: deps.bytesPerFetch }, () => fetch.call(broker, { ...request, maxWaitTime }))
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

/** What the fetch that this code runs for may still unpack. */
const unpacking = new AsyncLocalStorage<{ left: number }>()
const inflate = promisify(gunzip)

/**
 * Unpacks a record batch. Kafka bounds a fetch by compressed bytes only, and kafkajs unpacks all of it before it hands over the
 * first message: 512 KiB of texts that repeat themselves were 83 MiB, of small records 578 000. So what comes after the bound
 * stays packed, and is fetched again next time.
 */
export const unpack = async (packed: Buffer): Promise<Buffer> => {
  const room = unpacking.getStore()
  if (room && room.left <= 0) throw new LeftForLater('left for the next fetch')
  const unpacked = await inflate(packed)
  if (room) room.left -= unpacked.length
  return unpacked
}

/** By this name kafkajs knows a record batch that was cut off at the end of an answer: it passes over that batch for now. */
class LeftForLater extends Error {
  override name = 'KafkaJSPartialMessageError'
}
