import type { ITopicConfig } from 'kafkajs'
import type { Kafka } from '#platform/kafka/kafka.js'
import { eventually } from './eventually.js'

/**
 * Creates topics, and resolves when they can be used. Not by `waitForLeaders`: right after a creation a broker may answer that there
 * is no such topic, and kafkajs gives up on that.
 */
export const createTopics = (kafka: Pick<Kafka, 'withAdmin'>, ...topics: ITopicConfig[]): Promise<void> =>
  kafka.withAdmin(async (admin) => {
    await admin.createTopics({ waitForLeaders: false, topics })
    const names = topics.map(({ topic }) => topic)
    await eventually(async () => {
      const found = await admin.fetchTopicMetadata({ topics: names })
      const leaderless = found.topics.flatMap(({ partitions }) => partitions).filter(({ leader }) => leader < 0)
      if (leaderless.length > 0) throw new Error(`${leaderless.length} partitions have no leader yet`)
    })
  })
