import type { Kafka } from '#platform/kafka/kafka.js'
import type { Topic } from '#schemas/derive/topics.js'

type Admin = Parameters<Parameters<Kafka['withAdmin']>[0]>[0]

// Kafka's own numbers: a resource that is a topic, and a setting that was made for that topic.
const topicResource = 2
const topicSetting = 1

/** Brings the topics' settings to the declared ones; answers how many topics differed. */
export const alterTopicConfigs = async (admin: Admin, topics: readonly Topic[]): Promise<number> => {
  if (topics.length === 0) return 0
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: topics.map(({ name }) => ({ type: topicResource, name })),
  })
  const found = new Map(resources.map(({ resourceName, configEntries }) => [resourceName, configEntries]))
  const changes = topics.flatMap(({ name, config }) => {
    const entries = found.get(name) ?? []
    const current = new Map(entries.map(({ configName, configValue }) => [configName, configValue]))
    if (Object.entries(config).every(([key, value]) => current.get(key) === value)) return []
    // This request replaces all settings of the topic: those that an operator made beside ours must be in it again.
    const own = entries.filter(({ configSource }) => configSource === topicSetting)
    const kept = own.map(({ configName, configValue }): [string, string] => [configName, configValue])
    const merged = Object.entries({ ...Object.fromEntries(kept), ...config })
    return [{ type: topicResource, name, configEntries: merged.map(([key, value]) => ({ name: key, value })) }]
  })
  if (changes.length > 0) await admin.alterConfigs({ validateOnly: false, resources: changes })
  return changes.length
}
