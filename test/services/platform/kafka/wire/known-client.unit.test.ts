import { createRequire } from 'node:module'
import { Kafka as Client, logLevel } from 'kafkajs'
import { expect, it } from 'vitest'
import { checkClient, clusterOf, knownVersion } from '#platform/kafka/wire/known-client.js'

const load = createRequire(import.meta.url)
const newClient = () => new Client({ brokers: ['127.0.0.1:1'], logLevel: logLevel.NOTHING })

it('is pinned to the version whose inner parts are used', () => {
  expect(load('../../../../../package.json').dependencies.kafkajs).toBe(knownVersion)
  expect(load('kafkajs/package.json').version).toBe(knownVersion)
})

it('is taken as it is installed', () => {
  expect(() => checkClient(newClient())).not.toThrow()
})

it.each([
  ['a client has no function that makes a cluster', () => ({}) as Client],
  ['a cluster has no refreshMetadataIfNecessary', () => without('refreshMetadataIfNecessary')],
  ['a cluster has no set of targetTopics', () => without('targetTopics')],
  ['a cluster has no brokerPool.createBroker', () => without('brokerPool')],
  ['a broker has no lookupRequest', () => withBroker('lookupRequest')],
  ['a pool of brokers has no findBroker', () => withBroker()],
])('is refused at the start where %s', (what, make) => {
  expect(() => checkClient(make())).toThrow(
    `kafkajs ${knownVersion} is not made as ${knownVersion} is, which Weir uses from the inside (${what}): run npm ci`,
  )
})

/** A client whose clusters are changed before they are handed out. */
const changed = (change: (cluster: object) => object): Client => {
  const made = change(clusterOf(newClient()))
  return { [Symbol('private:Kafka:createCluster')]: () => made } as unknown as Client
}
const without = (part: string): Client => changed((cluster) => Object.create(cluster, { [part]: { value: undefined } }))
const withBroker = (lacking?: string): Client => {
  const parts = 'fetch heartbeat joinGroup leaveGroup lookupRequest metadata offsetCommit produce syncGroup'.split(' ')
  const broker = Object.fromEntries(parts.filter((part) => part !== lacking).map((part) => [part, () => {}]))
  return changed((cluster) => Object.create(cluster, { brokerPool: { value: { createBroker: () => broker } } }))
}
