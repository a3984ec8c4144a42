import { setTimeout as sleep } from 'node:timers/promises'
import { reasonOf } from '#platform/health/health.js'
import { isPassing } from '#platform/kafka/committed-offsets.js'
import type { Kafka } from '#platform/kafka/kafka.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { type Topic, topicsOf } from '#schemas/derive/topics.js'
import { OperatorError } from '../desk/operator-error.js'
import { alterTopicConfigs } from './topic-configs.js'

export type TopicsProvisioned = { topics: number; created: number; altered: number }

type Admin = Parameters<Parameters<Kafka['withAdmin']>[0]>[0]

const leadersWithin = 30_000

/** Creates the topics that are missing, and puts the settings of the others right. Partition counts it never touches. */
export const provisionTopics = (kafka: Kafka, catalogue: Catalogue, replication: number): Promise<TopicsProvisioned> =>
  kafka.withAdmin(async (admin) => {
    const declared = topicsOf(catalogue)
    const there = new Set(await admin.listTopics())
    const missing = declared.filter(({ name }) => !there.has(name))
    const present = declared.filter(({ name }) => there.has(name))
    // Before anything is made: a refusal leaves all as it was.
    refuseOtherCounts(present, await partitionsOf(admin, present))
    await create(admin, missing, replication)
    refuseOtherCounts(declared, await waitForLeaders(admin, declared))
    return { topics: declared.length, created: missing.length, altered: await alterTopicConfigs(admin, present) }
  })

const create = async (admin: Admin, topics: readonly Topic[], replication: number): Promise<void> => {
  if (topics.length === 0) return
  try {
    await admin.createTopics({
      // Waited for afterwards, for all topics: another starter may have created some of them first.
      waitForLeaders: false,
      timeout: 30_000,
      topics: topics.map(({ name, partitions, config }) => ({
        topic: name,
        numPartitions: partitions,
        replicationFactor: replication,
        configEntries: Object.entries(config).map(([key, value]) => ({ name: key, value })),
      })),
    })
  } catch (error) {
    // One error for each topic, mostly the same one: KAFKA_REPLICATION above the number of brokers, or no permission.
    const [first] = (error as { errors?: (Error & { topic?: string })[] }).errors ?? []
    if (!first) throw error
    throw new OperatorError(`Kafka does not create ${first.topic} with ${replication} copies: ${reasonOf(first)}`)
  }
}

const refuseOtherCounts = (declared: readonly Topic[], found: ReadonlyMap<string, number>): void => {
  const wrong = declared.filter(({ name, partitions }) => found.get(name) !== partitions)
  if (wrong.length === 0) return
  const list = wrong.map(({ name, partitions }) => `${name} has ${found.get(name) ?? 0} instead of ${partitions}`)
  throw new OperatorError(
    `the partition count of a topic cannot change, because versions are positions in it: ${list.join(', ')}. ` +
      'Is KAFKA_BROKERS the right Kafka? To begin anew, empty Kafka, Postgres and ClickHouse together',
  )
}

type Metadata = Awaited<ReturnType<Admin['fetchTopicMetadata']>>['topics']

const partitionsOf = async (admin: Admin, topics: readonly Topic[]): Promise<Map<string, number>> =>
  countPartitions(topics.length === 0 ? [] : (await metadataOf(admin, topics)).topics)

const metadataOf = (admin: Admin, topics: readonly Topic[]) =>
  admin.fetchTopicMetadata({ topics: topics.map(({ name }) => name) })

const countPartitions = (metadata: Metadata): Map<string, number> =>
  new Map(metadata.map(({ name, partitions }) => [name, partitions.length]))

const waitForLeaders = async (admin: Admin, topics: readonly Topic[]): Promise<Map<string, number>> => {
  const deadline = Date.now() + leadersWithin
  for (;;) {
    try {
      const { topics: found } = await metadataOf(admin, topics)
      if (found.every(({ partitions }) => partitions.length > 0 && partitions.every(({ leader }) => leader >= 0))) {
        return countPartitions(found)
      }
    } catch (error) {
      // A topic that was created a moment ago is not yet known to every broker, and one without a leader is an error.
      if (!isPassing(error) || Date.now() > deadline) throw error
    }
    if (Date.now() > deadline)
      throw new OperatorError('Kafka found no leaders for its topics: are all brokers running?')
    await sleep(200)
  }
}
