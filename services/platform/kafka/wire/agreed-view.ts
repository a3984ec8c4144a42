import type { Broker, Kafka as Client, Cluster } from 'kafkajs'
import { within } from '../../process/within.js'
import { changeClusters } from './known-client.js'

// A broker that the others do not reach goes on telling clients that it leads what it led: it takes their messages and never
// acknowledges one, and its readers see nothing new. kafkajs believes any one broker, a new client the first of its list. So all are
// asked, and what most of them say counts: the others have put such a broker out of their list.

type Told = { brokers: readonly { nodeId: number }[] }
type AskedBroker = Broker & { metadata: (topics: readonly string[]) => Promise<Told> }
type BrokerPool = {
  brokers: Record<string, AskedBroker>
  metadata: Told | null
  findBroker: (which: { nodeId: string }) => Promise<AskedBroker>
  findConnectedBroker: () => Promise<AskedBroker>
  refreshMetadata: (topics: readonly string[]) => Promise<unknown>
}

type AskingCluster = Cluster & {
  brokerPool: BrokerPool
  refreshMetadata: () => Promise<void>
  findGroupCoordinator: (group: object) => Promise<Broker>
}

// One that is dead, and not yet put out of the list, does not answer.
const answerWithin = 1_000

/** Has every connection of this client go by what most brokers say of the cluster. */
export const goByMost = (client: Client): Client => {
  changeClusters(client, (create) => (options) => {
    const cluster = create(options) as AskingCluster
    askAll(cluster.brokerPool)
    const findCoordinator = cluster.findGroupCoordinator.bind(cluster)
    // Any broker that is known is asked for it: one that is cut off would name itself.
    cluster.findGroupCoordinator = async (group) => {
      await cluster.refreshMetadata()
      return findCoordinator(group)
    }
    return cluster
  })
  return client
}

const askAll = (pool: BrokerPool): void => {
  const find = pool.findConnectedBroker.bind(pool)
  const refresh = pool.refreshMetadata.bind(pool)
  let chosen: AskedBroker | undefined
  pool.findConnectedBroker = async () => chosen ?? find()
  pool.refreshMetadata = async (topics) => {
    const refreshed = await refresh(topics)
    const believed = pool.metadata && viewOf(pool.metadata)
    const ids = Object.keys(pool.brokers)
    // Of two that differ, neither is most of them.
    if (believed === null || ids.length < 3) return refreshed
    const ask = async (nodeId: string) => {
      const broker = await pool.findBroker({ nodeId })
      return { broker, view: viewOf(await broker.metadata(topics)) }
    }
    const asked = await Promise.allSettled(ids.map((nodeId) => within(answerWithin, ask(nodeId))))
    const told = asked.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
    const most = told.find(({ view }) => 2 * told.filter((each) => each.view === view).length > ids.length)
    if (!most || most.view === believed) return refreshed
    chosen = most.broker
    try {
      return await refresh(topics)
    } finally {
      chosen = undefined
    }
  }
}

/** Which brokers there are, by what one of them says. */
const viewOf = ({ brokers }: Told): string =>
  brokers
    .map(({ nodeId }) => nodeId)
    .sort((a, b) => a - b)
    .join()
