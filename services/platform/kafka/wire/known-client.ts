import { createRequire } from 'node:module'
import type { Kafka as Client, Cluster } from 'kafkajs'

/** The one version whose inner parts we use; package.json pins it, and docs/decisions/kafka-client.md says why and until when. */
export const knownVersion = '2.2.4'

// What kafkajs keeps to itself and we rely on. Its types leave these out, so only a look at the parts themselves finds a change.
const clusterParts = (
  'addMultipleTargetTopics addTargetTopic connect disconnect fetchTopicsOffset findBroker findLeaderForPartitions ' +
  'findTopicPartitionMetadata isConnected refreshMetadata refreshMetadataIfNecessary removeBroker'
).split(' ')
const brokerParts = ['fetch', 'joinGroup', 'leaveGroup', 'lookupRequest', 'produce']

type Inside = Record<string, unknown>
type InnerCluster = Inside & { brokerPool?: { createBroker?: (options: object) => Inside; rootLogger?: unknown } }

/** Throws, at the start and not in the middle of a send, where kafkajs is not made as we know it. Connects to nothing. */
export const checkClient = (client: Client): void => {
  const cluster = clusterOf(client) as unknown as InnerCluster
  const { createBroker, rootLogger } = cluster.brokerPool ?? {}
  if (!createBroker) throw unlike('a cluster has no brokerPool.createBroker')
  const broker = createBroker({
    logger: rootLogger,
    connectionPool: { host: 'nowhere', port: 0, connectionTimeout: 0 },
  })
  const lacks = (one: Inside, parts: readonly string[]) => parts.find((part) => typeof one[part] !== 'function')
  const ofCluster = lacks(cluster, clusterParts)
  if (ofCluster) throw unlike(`a cluster has no ${ofCluster}`)
  if (!(cluster.targetTopics instanceof Set)) throw unlike('a cluster has no set of targetTopics')
  const ofBroker = lacks(broker, brokerParts)
  if (ofBroker) throw unlike(`a broker has no ${ofBroker}`)
}

/** What kafkajs makes for each of its producers, by a function that it keeps to itself. */
export const clusterOf = <C extends Cluster>(client: Client): C => {
  const create = Object.getOwnPropertySymbols(client).find((each) => each.description === 'private:Kafka:createCluster')
  if (!create) throw unlike('a client has no function that makes a cluster')
  const made = client as unknown as Record<symbol, (options: object) => C>
  return made[create]?.({ metadataMaxAge: 300_000, allowAutoTopicCreation: false }) as C
}

export const unlike = (what: string): Error => {
  const { version } = createRequire(import.meta.url)('kafkajs/package.json') as { version: string }
  return new Error(
    `kafkajs ${version} is not made as ${knownVersion} is, which Weir uses from the inside (${what}): ` +
      'run npm ci to have that version; docs/decisions/kafka-client.md says what another one takes',
  )
}
