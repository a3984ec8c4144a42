import { refuseOtherPartitions } from '#ledger/layout/check-layout.js'
import { reasonOf } from '#platform/health/health.js'
import { isPassing } from '#platform/kafka/admin/admin.js'
import type { Kafka } from '#platform/kafka/kafka.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { closedMessageBytes } from '#schemas/closing-mark.js'
import { inSyncOf, type Layout, submittedTopicsOf, type Topic, topicsOf, usualLayout } from '#schemas/derive/topics.js'
import { OperatorError } from '../command/operator-error.js'
import { persist, until } from '../command/until.js'

type Admin = Parameters<Parameters<Kafka['withAdmin']>[0]>[0]

// With three, one broker may be away and the others still hold each message twice.
const usualCopies = 3
const leadersWithin = 30_000
const inSync = 'min.insync.replicas'

/** Creates the topics that are missing, and gives the others their declared settings. Partition counts never change. */
export const provisionTopics = (
  kafka: Kafka,
  catalogue: Catalogue,
  wanted: number | undefined,
  layout: Layout = usualLayout,
): Promise<{ topics: number; created: number; altered: number; copies: number }> =>
  kafka.withAdmin(async (admin) => {
    const declared = topicsOf(catalogue, layout)
    const there = new Set(await admin.listTopics())
    const missing = declared.filter(({ name }) => !there.has(name))
    const present = declared.filter(({ name }) => there.has(name))
    // Before anything is made: a refusal leaves all as it was.
    if (present.length > 0) refuseOtherPartitions(layout, countPartitions((await metadataOf(admin, present)).topics))
    const copies = wanted ?? Math.min(usualCopies, (await admin.describeCluster()).brokers.length)
    await create(admin, missing, copies)
    const found = await waitForLeaders(admin, declared)
    refuseOtherPartitions(layout, countPartitions(found))
    const altered = await alterTopicConfigs(admin, present, fewestCopies(found))
    return { topics: declared.length, created: missing.length, altered, copies }
  })

/** Has Kafka refuse every batch for the submitted topics of a layout. */
export const closeTopics = (admin: Admin, catalogue: Catalogue, layout: Layout): Promise<void> =>
  limitSubmitted(admin, catalogue, layout, { 'max.message.bytes': closedMessageBytes })

/** Has Kafka take batches for them again. */
export const openTopics = (admin: Admin, catalogue: Catalogue, layout: Layout): Promise<void> =>
  limitSubmitted(admin, catalogue, layout, {})

const limitSubmitted = async (
  admin: Admin,
  catalogue: Catalogue,
  layout: Layout,
  limits: Record<string, string>,
): Promise<void> => {
  const names = new Set(submittedTopicsOf(catalogue, layout.generation))
  const topics = topicsOf(catalogue, layout).filter(({ name }) => names.has(name))
  const limited = topics.map((topic) => ({ ...topic, config: { ...topic.config, ...limits } }))
  await alterTopicConfigs(admin, limited, fewestCopies((await metadataOf(admin, topics)).topics))
}

const create = async (admin: Admin, topics: readonly Topic[], replication: number): Promise<void> => {
  if (topics.length === 0) return
  try {
    await admin.createTopics({
      // Waited for afterwards, for all topics: another operator may have created some of them first.
      waitForLeaders: false,
      timeout: 30_000,
      topics: topics.map(({ name, partitions, config }) => ({
        topic: name,
        numPartitions: partitions,
        replicationFactor: replication,
        configEntries: Object.entries({ ...config, [inSync]: String(inSyncOf(replication)) }).map(([key, value]) => ({
          name: key,
          value,
        })),
      })),
    })
  } catch (error) {
    // One error for each topic, mostly the same one: KAFKA_REPLICATION above the number of brokers, or no permission.
    const [first] = (error as { errors?: (Error & { topic?: string })[] }).errors ?? []
    if (!first) throw error
    throw new OperatorError(`Kafka does not create ${first.topic} with ${replication} copies: ${reasonOf(first)}`)
  }
}

type Metadata = Awaited<ReturnType<Admin['fetchTopicMetadata']>>['topics']

const metadataOf = (admin: Admin, topics: readonly Topic[]) =>
  knownSoon(() => admin.fetchTopicMetadata({ topics: topics.map(({ name }) => name) }))

const noLeaders = 'Kafka found no leaders for its topics: are all brokers running?'

/** Asks again while the broker that answers has not yet heard of a topic that was just made, or while one has no leader. */
const knownSoon = async <T>(ask: () => Promise<T>): Promise<T> => {
  try {
    return await persist(ask, isPassing, { every: 200, within: leadersWithin })
  } catch (error) {
    throw isPassing(error) ? new OperatorError(noLeaders) : error
  }
}

const countPartitions = (metadata: Metadata): Map<string, number> =>
  new Map(metadata.map(({ name, partitions }) => [name, partitions.length]))

/** The copies that each topic has; those of its partition with the fewest, while an operator is adding some. */
export const fewestCopies = (metadata: Metadata): Map<string, number> =>
  new Map(
    metadata.map(({ name, partitions }) => [name, Math.min(...partitions.map(({ replicas }) => replicas.length))]),
  )

const waitForLeaders = async (admin: Admin, topics: readonly Topic[]): Promise<Metadata> => {
  let found: Metadata = []
  const isLed = ({ partitions }: Metadata[number]): boolean =>
    partitions.length > 0 && partitions.every(({ leader }) => leader >= 0)
  const look = async (): Promise<boolean> => {
    found = (await metadataOf(admin, topics)).topics
    return found.every(isLed)
  }
  if (!(await until(look, { every: 200, within: leadersWithin }))) throw new OperatorError(noLeaders)
  return found
}

// Kafka's own numbers: a resource that is a topic, and a setting that was made for that topic.
export const topicResource = 2
const topicSetting = 1

/** Gives topics their declared settings; resolves to how many had others. */
const alterTopicConfigs = async (
  admin: Admin,
  topics: readonly Topic[],
  copies: ReadonlyMap<string, number>,
): Promise<number> => {
  if (topics.length === 0) return 0
  const { resources } = await knownSoon(() =>
    admin.describeConfigs({
      includeSynonyms: false,
      resources: topics.map(({ name }) => ({ type: topicResource, name })),
    }),
  )
  const found = new Map(resources.map(({ resourceName, configEntries }) => [resourceName, configEntries]))
  const changes = topics.flatMap(({ name, config: declared }) => {
    const entries = found.get(name) ?? []
    const own = entries.filter(({ configSource }) => configSource === topicSetting)
    // By the copies that are there, not by KAFKA_REPLICATION, which somebody may leave out the next time. A cluster that asks
    // for more of them in sync keeps that, but never for more than there are: nothing could be written then.
    const there = copies.get(name) ?? 1
    const asked = Number(entries.find(({ configName }) => configName === inSync)?.configValue) || 0
    const config = { ...declared, [inSync]: String(Math.min(there, Math.max(inSyncOf(there), asked))) }
    // What only happens to be the broker's default is set too: a default can change.
    const current = new Map(own.map(({ configName, configValue }) => [configName, configValue]))
    if (Object.entries(config).every(([key, value]) => current.get(key) === value)) return []
    // This request replaces all settings of the topic: those that an operator made beside ours must be in it again.
    const kept = own.map(({ configName, configValue }): [string, string] => [configName, configValue])
    const merged = Object.entries({ ...Object.fromEntries(kept), ...config })
    return [{ type: topicResource, name, configEntries: merged.map(([key, value]) => ({ name: key, value })) }]
  })
  if (changes.length > 0) await admin.alterConfigs({ validateOnly: false, resources: changes })
  return changes.length
}
