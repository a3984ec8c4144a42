import { setTimeout as wait } from 'node:timers/promises'
import type { Kafka } from './kafka.js'
import { placeOf } from './partitions.js'

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
      for (const { topic, partitions } of await fetchPatiently(admin, groupId, topics)) {
        for (const { partition, offset } of partitions) {
          if (Number(offset) >= 0) committed.push({ topic, partition, offset: Number(offset) })
        }
      }
    }
    return committed
  })

/** The same, by `topic/partition`. */
export const committedByPlace = async (kafka: Kafka, groups: readonly Group[]): Promise<Map<string, number>> =>
  new Map((await committedOffsets(kafka, groups)).map((each) => [placeOf(each), each.offset]))

/** Whether Kafka says that an error passes by itself: a leader is being chosen, a coordinator still reads its log. */
export const isPassing = (error: unknown): boolean => (error as { retriable?: boolean }).retriable === true

type Admin = Parameters<Parameters<Kafka['withAdmin']>[0]>[0]

const loadedWithin = 30_000

// A Kafka that was just started answers with an error until it has read its groups' offsets; kafkajs does not ask again.
const fetchPatiently = async (admin: Admin, groupId: string, topics: readonly string[]) => {
  for (const deadline = performance.now() + loadedWithin; ; await wait(200)) {
    try {
      return await admin.fetchOffsets({ groupId, topics: [...topics] })
    } catch (error) {
      if (!isPassing(error) || performance.now() > deadline) throw error
    }
  }
}
