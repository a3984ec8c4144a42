import { Kafka as Client, logLevel } from 'kafkajs'
import { expect, it } from 'vitest'
import { goByMost } from '../../../../../services/platform/kafka/wire/agreed-view.js'
import { clusterOf } from '../../../../../services/platform/kafka/wire/known-client.js'

type Told = { brokers: { nodeId: number; host: string; port: number; rack: null }[]; topicMetadata: never[] }
type Pool = {
  brokers: Record<string, unknown>
  seedBroker: unknown
  metadata: Told
  findConnectedBroker: () => Promise<unknown>
  refreshMetadata: (topics: string[]) => Promise<void>
}

/** A client's knowledge of three brokers, each of which tells it this; the first is the one that it would believe. */
const knowing = (views: Record<number, number[] | 'away'>): Pool => {
  const client = new Client({ brokers: ['nowhere:1'], logLevel: logLevel.NOTHING, retry: { retries: 0 } })
  const brokers = Object.fromEntries(
    Object.entries(views).map(([nodeId, view]) => [
      nodeId,
      {
        nodeId,
        isConnected: () => true,
        disconnect: async () => {},
        connectionPool: { host: `host-${nodeId}`, port: 9092, rack: null },
        metadata: async (): Promise<Told> => {
          if (view === 'away') throw new Error('away')
          return {
            brokers: view.map((id) => ({ nodeId: id, host: `host-${id}`, port: 9092, rack: null })),
            topicMetadata: [],
          }
        },
      },
    ]),
  )
  // Before anything else is changed: without the others' answers the first broker is believed.
  const symbol = Object.getOwnPropertySymbols(client).find(({ description }) => description?.includes('createCluster'))
  const inside = client as unknown as Record<symbol, (options: object) => { brokerPool: Pool }>
  const create = inside[symbol as symbol] as (options: object) => { brokerPool: Pool }
  inside[symbol as symbol] = (options) => {
    const cluster = create(options)
    cluster.brokerPool.brokers = { ...brokers }
    cluster.brokerPool.seedBroker = brokers[1]
    cluster.brokerPool.findConnectedBroker = async () => brokers[1]
    return cluster
  }
  return (clusterOf(goByMost(client)) as unknown as { brokerPool: Pool }).brokerPool
}
const believed = async (pool: Pool): Promise<number[]> => {
  await pool.refreshMetadata([])
  return pool.metadata.brokers.map(({ nodeId }) => nodeId)
}

it('goes by the others where the broker that it asked first is not in their list', async () => {
  const pool = knowing({ 1: [1, 2, 3], 2: [2, 3], 3: [2, 3] })
  expect(await believed(pool)).toEqual([2, 3])
  expect(Object.keys(pool.brokers)).toEqual(['2', '3'])
})

it.each([
  ['all agree', { 1: [1, 2, 3], 2: [1, 2, 3], 3: [3, 2, 1] }],
  ['one has not heard the news yet', { 1: [1, 2, 3], 2: [1, 2, 3], 3: [2, 3] }],
  ['the others do not answer', { 1: [1, 2, 3], 2: 'away', 3: 'away' }],
  ['there are two, of which neither is most', { 1: [1, 2], 2: [2] }],
] as const)('believes the broker that it asked where %s', async (_, views) => {
  const pool = knowing(views as never)
  expect(await believed(pool)).toEqual(views[1])
})
