import { setTimeout as wait } from 'node:timers/promises'
import kafkajs from 'kafkajs'
import type { Kafka } from '../kafka.js'
import type { Admin } from './admin.js'

/** Settings by topic and name; null where a topic has none of its own, and goes by the broker's. */
export type TopicConfigs = Record<string, Record<string, string | null>>

/** Which of these settings the topics have of their own. */
export const ownConfigs = (
  kafka: Pick<Kafka, 'withAdmin'>,
  topics: readonly string[],
  names: readonly string[],
): Promise<TopicConfigs> =>
  kafka.withAdmin(async (admin) => {
    const all = await describe(admin, topics)
    return Object.fromEntries(
      [...all].map(([topic, { own }]) => [topic, Object.fromEntries(names.map((name) => [name, own[name] ?? null]))]),
    )
  })

/** The policies by which Kafka removes what is old from these topics: their own, or the broker's. */
export const policiesOf = (
  kafka: Pick<Kafka, 'withAdmin'>,
  topics: readonly string[],
): Promise<Map<string, readonly string[]>> =>
  kafka.withAdmin(async (admin) => {
    const all = await describe(admin, topics)
    return new Map([...all].map(([topic, { policy }]) => [topic, policy.split(',').filter((word) => word !== '')]))
  })

const knownWithin = 10_000

/**
 * Gives topics these settings, and leaves those that are not named as they are. Resolves once Kafka tells them so itself: right after a
 * change a broker may still answer with the old ones. Topics that are gone are passed over.
 */
export const setConfigs = (kafka: Pick<Kafka, 'withAdmin'>, wanted: TopicConfigs): Promise<void> =>
  kafka.withAdmin(async (admin) => {
    const there = new Set(await admin.listTopics())
    const topics = Object.keys(wanted).filter((topic) => there.has(topic))
    if (topics.length === 0) return
    const merged = [...(await describe(admin, topics))].map(([topic, { own }]) => ({
      topic,
      // This request replaces all settings of a topic: those that are to stay must be in it again.
      settings: Object.entries({ ...own, ...wanted[topic] }).filter((entry) => entry[1] !== null) as [string, string][],
    }))
    await admin.alterConfigs({
      validateOnly: false,
      resources: merged.map(({ topic, settings }) => ({
        type: kafkajs.ConfigResourceTypes.TOPIC,
        name: topic,
        configEntries: settings.map(([name, value]) => ({ name, value })),
      })),
    })
    for (const deadline = performance.now() + knownWithin; ; await wait(100)) {
      const known = await describe(admin, topics)
      const isKnown = topics.every((topic) =>
        Object.entries(wanted[topic] ?? {}).every(([name, value]) => (known.get(topic)?.own[name] ?? null) === value),
      )
      if (isKnown) return
      if (performance.now() > deadline) throw new Error('Kafka does not show the settings that topics were given')
    }
  })

type Described = { own: Record<string, string>; policy: string }

const describe = async (admin: Admin, topics: readonly string[]): Promise<Map<string, Described>> => {
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: topics.map((name) => ({ type: kafkajs.ConfigResourceTypes.TOPIC, name })),
  })
  return new Map(
    resources.map(({ resourceName, configEntries }) => {
      const own = configEntries.filter(({ configSource }) => configSource === kafkajs.ConfigSource.TOPIC_CONFIG)
      return [
        resourceName,
        {
          own: Object.fromEntries(own.map(({ configName, configValue }) => [configName, configValue])),
          policy: configEntries.find(({ configName }) => configName === 'cleanup.policy')?.configValue ?? '',
        },
      ]
    }),
  )
}
