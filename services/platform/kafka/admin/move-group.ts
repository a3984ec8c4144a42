import type { Kafka as Client } from 'kafkajs'
import type { TopicPartition } from '../partitions.js'

/**
 * Lets a group go on from these offsets, which are Kafka's own. Kafka takes them from a member only, so this becomes one for a moment: once
 * for all partitions, since a group waits for others to join before its first member may do anything. Fails where the group has members.
 */
export const moveGroup = async (
  client: Client,
  groupId: string,
  places: readonly (TopicPartition & { offset: string })[],
): Promise<void> => {
  const consumer = client.consumer({ groupId, allowAutoTopicCreation: false })
  await consumer.connect()
  try {
    const { state } = await consumer.describeGroup()
    if (state !== 'Empty' && state !== 'Dead') throw new GroupRuns(groupId, state)
    const topics = [...new Set(places.map(({ topic }) => topic))]
    await consumer.subscribe({ topics })
    const joined = new Promise<void>((resolve, reject) => {
      consumer.on('consumer.group_join', () => resolve())
      consumer.on('consumer.crash', ({ payload }) => reject(payload.error))
    })
    await Promise.all([consumer.run({ autoCommit: false, eachBatch: async () => {} }), joined])
    consumer.pause(topics.map((topic) => ({ topic })))
    await consumer.commitOffsets([...places])
  } finally {
    await consumer.disconnect()
  }
}

/** Only a group without members can be moved: they would go on from where they are. */
export class GroupRuns extends Error {
  constructor(groupId: string, state: string) {
    super(`group ${groupId} has members: it is ${state}`)
  }
}
