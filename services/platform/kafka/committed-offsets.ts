import { setTimeout as wait } from 'node:timers/promises'
import type { Kafka } from './kafka.js'
import { placeOf } from './partitions.js'

export type Group = { groupId: string; topics: readonly string[] }
/** What lies below this offset its group is done with. */
export type Committed = { topic: string; partition: number; offset: number }

const loadedWithin = 30_000

/** How far these groups are; a partition of which nothing was ever committed is not among them. */
export const committedOffsets = (kafka: Kafka, groups: readonly Group[]): Promise<Committed[]> =>
  kafka.withAdmin(async (admin) => {
    const committed: Committed[] = []
    for (const { groupId, topics } of groups) {
      // Asked for no topics, Kafka tells of all.
      if (topics.length === 0) continue
      for (const { topic, partitions } of await fetched(admin, groupId, topics)) {
        for (const { partition, offset } of partitions) {
          if (Number(offset) >= 0) committed.push({ topic, partition, offset: Number(offset) })
        }
      }
    }
    return committed
  })

type Admin = Parameters<Parameters<Kafka['withAdmin']>[0]>[0]

// A Kafka that was just started answers before it has read how far groups are; kafkajs does not ask again by itself.
const fetched = async (admin: Admin, groupId: string, topics: readonly string[]) => {
  for (const deadline = Date.now() + loadedWithin; ; await wait(200)) {
    try {
      return await admin.fetchOffsets({ groupId, topics: [...topics] })
    } catch (error) {
      if (!isPassing(error) || Date.now() > deadline) throw error
    }
  }
}

/** The same, by `topic/partition`. */
export const committedByPlace = async (kafka: Kafka, groups: readonly Group[]): Promise<Map<string, number>> =>
  new Map((await committedOffsets(kafka, groups)).map((each) => [placeOf(each), each.offset]))

/** Whether Kafka says of an error that it goes by itself: a leader is being chosen, a coordinator still reads its log. */
export const isPassing = (error: unknown): boolean => (error as { retriable?: boolean }).retriable === true
