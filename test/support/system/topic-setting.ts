import { ConfigResourceTypes, Kafka, logLevel } from 'kafkajs'

/** Runs work while a topic has another setting, and gives it back its own. */
export const withTopicSetting = async <T>(
  brokers: string,
  topic: string,
  setting: Record<string, string>,
  work: () => Promise<T>,
): Promise<T> => {
  const admin = new Kafka({ brokers: brokers.split(','), logLevel: logLevel.NOTHING }).admin()
  await admin.connect()
  const resource = { type: ConfigResourceTypes.TOPIC, name: topic }
  // kafkajs can only replace all of a topic's settings.
  const { resources } = await admin.describeConfigs({ includeSynonyms: false, resources: [resource] })
  const own = resources[0]?.configEntries.filter(({ configSource }) => configSource === ofTheTopic) ?? []
  const before = Object.fromEntries(own.map(({ configName, configValue }) => [configName, configValue]))
  const set = (settings: Record<string, string>) =>
    admin.alterConfigs({
      validateOnly: false,
      resources: [{ ...resource, configEntries: Object.entries(settings).map(([name, value]) => ({ name, value })) }],
    })
  try {
    await set({ ...before, ...setting })
    return await work()
  } finally {
    await set(before)
    await admin.disconnect()
  }
}

const ofTheTopic = 1
