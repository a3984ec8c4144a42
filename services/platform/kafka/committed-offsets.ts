import type { Kafka } from './kafka.js'
import { countedFrom, placeOf } from './partitions.js'

export type Group = { groupId: string; topics: readonly string[] }
/** The group has handled every message of the partition below this offset. */
export type Committed = { topic: string; partition: number; offset: number }

/** How far these groups have come; a partition of which nothing was ever committed is left out. */
export const committedOffsets = (kafka: Kafka, groups: readonly Group[]): Promise<Committed[]> =>
  kafka.withAdmin(async (admin) => {
    const committed: Committed[] = []
    for (const { groupId, topics } of groups) {
      // Kafka takes an empty list for "all topics".
      if (topics.length === 0) continue
      for (const { topic, partitions } of await admin.fetchOffsets({ groupId, topics: [...topics] })) {
        for (const { partition, offset } of partitions) {
          if (Number(offset) >= 0) committed.push({ topic, partition, offset: countedFrom(topic) + Number(offset) })
        }
      }
    }
    return committed
  })

/** The same, by `topic/partition`. */
export const committedByPlace = async (kafka: Kafka, groups: readonly Group[]): Promise<Map<string, number>> =>
  new Map((await committedOffsets(kafka, groups)).map((each) => [placeOf(each), each.offset]))

/** A consumer group, and how many messages of each topic it has not read yet. */
export type GroupLag = { group: string; state: string; members: number; topics: { topic: string; lag: number }[] }

const mostGroups = 100

/** The groups that have read from some of these topics, as far as Kafka shows them to this user; of very many, the first by name. */
export const lagOfGroups = (kafka: Kafka, topics: readonly string[]): Promise<GroupLag[]> =>
  kafka.withAdmin(async (admin) => {
    const { groups } = await admin.listGroups()
    const names = groups
      .filter(({ protocolType }) => protocolType === 'consumer')
      .map(({ groupId }) => groupId)
      .sort()
    const found: { group: string; read: Map<string, number> }[] = []
    for (const group of names) {
      if (found.length === mostGroups) break
      const read = new Map<string, number>()
      for (const { topic, partitions } of await admin.fetchOffsets({ groupId: group }))
        for (const { partition, offset } of partitions)
          if (topics.includes(topic) && Number(offset) >= 0) read.set(placeOf({ topic, partition }), Number(offset))
      if (read.size > 0) found.push({ group, read })
    }
    const ends = new Map<string, number>()
    for (const topic of new Set(found.flatMap(({ read }) => [...read.keys()].map(topicOf))))
      for (const { partition, high } of await admin.fetchTopicOffsets(topic))
        ends.set(placeOf({ topic, partition }), Number(high))
    const described = found.length > 0 ? (await admin.describeGroups(found.map(({ group }) => group))).groups : []
    return found.map(({ group, read }) => {
      const lags = new Map<string, number>()
      for (const [place, offset] of read)
        lags.set(topicOf(place), (lags.get(topicOf(place)) ?? 0) + Math.max(0, (ends.get(place) ?? 0) - offset))
      const { state = 'unknown', members = [] } = described.find(({ groupId }) => groupId === group) ?? {}
      return { group, state, members: members.length, topics: [...lags].map(([topic, lag]) => ({ topic, lag })) }
    })
  })

const topicOf = (place: string): string => place.slice(0, place.lastIndexOf('/'))
