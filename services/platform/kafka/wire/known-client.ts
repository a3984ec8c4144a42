import type { Kafka as Client, Cluster } from 'kafkajs'
import installed from 'kafkajs/package.json' with { type: 'json' }

/** The one version whose inner parts we use; package.json pins it, and docs/decisions/kafka-client.md says why and until when. */
export const knownVersion = '2.2.4'

// What kafkajs keeps to itself and we rely on. Its types leave these out, so only a look at the parts themselves finds a change.
const clusterParts = (
  'addMultipleTargetTopics addTargetTopic connect disconnect fetchTopicsOffset findBroker findGroupCoordinator findLeaderForPartitions ' +
  'findTopicPartitionMetadata isConnected refreshMetadata refreshMetadataIfNecessary removeBroker'
).split(' ')
const poolParts = ['findBroker', 'findConnectedBroker', 'refreshMetadata']
const brokerParts = 'fetch heartbeat joinGroup leaveGroup lookupRequest metadata offsetCommit produce syncGroup'.split(
  ' ',
)

type Inside = Record<string, unknown>
type InnerCluster = Inside & {
  brokerPool?: Inside & { createBroker?: (options: object) => Inside; rootLogger?: unknown }
}

/** Throws, at the start and not in the middle of a send, where kafkajs is not made as we know it. Connects to nothing. */
export const checkClient = (client: Client): void => {
  const cluster = clusterOf(client) as unknown as InnerCluster
  const { brokerPool = {} } = cluster
  const { createBroker, rootLogger } = brokerPool
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
  const ofPool = lacks(brokerPool, poolParts)
  if (ofPool) throw unlike(`a pool of brokers has no ${ofPool}`)
}

/** What kafkajs makes for each of its producers. */
export const clusterOf = <C extends Cluster>(client: Client): C =>
  creatorIn(client).create({ metadataMaxAge: 300_000, allowAutoTopicCreation: false }) as C

export type CreateCluster = (options: object) => Cluster

/** Changes how a client makes the cluster of each of its producers, consumers and admins. */
export const changeClusters = (client: Client, change: (create: CreateCluster) => CreateCluster): void => {
  const { symbol, create } = creatorIn(client)
  Object.assign(client, { [symbol]: change(create) })
}

/** The function by which a client makes a cluster, which kafkajs keeps to itself. */
const creatorIn = (client: Client): { symbol: symbol; create: CreateCluster } => {
  const symbol = Object.getOwnPropertySymbols(client).find((each) => each.description === 'private:Kafka:createCluster')
  if (!symbol) throw unlike('a client has no function that makes a cluster')
  return { symbol, create: (client as unknown as Record<symbol, CreateCluster>)[symbol] as CreateCluster }
}

export const unlike = (what: string): Error => {
  return new Error(
    `kafkajs ${installed.version} is not made as ${knownVersion} is, which Weir uses from the inside (${what}): ` +
      'run npm ci to have that version; docs/decisions/kafka-client.md says what another one takes',
  )
}
