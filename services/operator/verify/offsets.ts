import type { Kafka } from '#platform/kafka.js'

/** Up to where each of these groups has committed, by `topic/partition`. */
export const committedOf = (
  kafka: Kafka,
  groups: readonly { groupId: string; topics: readonly string[] }[],
): Promise<Map<string, number>> =>
  kafka.withAdmin(async (admin) => {
    const committed = new Map<string, number>()
    for (const { groupId, topics } of groups) {
      if (topics.length === 0) continue
      for (const { topic, partitions } of await admin.fetchOffsets({ groupId, topics: [...topics] }))
        for (const { partition, offset } of partitions)
          committed.set(placeOf({ topic, partition }), Math.max(0, Number(offset)))
    }
    return committed
  })

export const placeOf = ({ topic, partition }: { topic: string; partition: number }): string => `${topic}/${partition}`
