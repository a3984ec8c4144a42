import { Kafka, logLevel } from 'kafkajs'

const groups: Record<string, (topic: string) => boolean> = {
  'weir-integrity': (topic) => topic.startsWith('weir.submitted.') && topic !== 'weir.submitted.interactions',
  'weir-integrity-interactions': (topic) => topic === 'weir.submitted.interactions',
  'weir-sink': (topic) => topic.startsWith('weir.accepted.') || topic === 'weir.rejected',
  'weir-sink-interactions': (topic) => topic === 'weir.interactions',
}

export type Groups = ReturnType<typeof createGroups>

/** Weir's consumer groups, as Kafka itself sees them. */
export const createGroups = (brokers: string) => {
  const kafka = new Kafka({ brokers: brokers.split(','), logLevel: logLevel.NOTHING })

  const withAdmin = async <T>(work: (admin: ReturnType<Kafka['admin']>) => Promise<T>): Promise<T> => {
    const admin = kafka.admin()
    await admin.connect()
    try {
      return await work(admin)
    } finally {
      await admin.disconnect()
    }
  }

  return {
    /** Partitions whose end a group has not reached, in words; and where the ends are. */
    behind: () =>
      withAdmin(async (admin) => {
        const all = (await admin.listTopics()).filter((topic) => topic.startsWith('weir.')).sort()
        const ends = new Map<string, number>()
        for (const topic of all)
          for (const { partition, high } of await admin.fetchTopicOffsets(topic))
            ends.set(`${topic}/${partition}`, Number(high))
        const behind: string[] = []
        for (const [groupId, reads] of Object.entries(groups)) {
          for (const { topic, partitions } of await admin.fetchOffsets({ groupId, topics: all.filter(reads) })) {
            for (const { partition, offset } of partitions) {
              const end = ends.get(`${topic}/${partition}`) ?? 0
              if (Math.max(0, Number(offset)) < end)
                behind.push(`${groupId} is at ${offset} of ${end} in ${topic}/${partition}`)
            }
          }
        }
        return { behind, ends: JSON.stringify([...ends]) }
      }),
    /** How many members the group has. */
    members: (groupId: string): Promise<number> =>
      withAdmin(async (admin) => (await admin.describeGroups([groupId])).groups[0]?.members.length ?? 0),
  }
}
