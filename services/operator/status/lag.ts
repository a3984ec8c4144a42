import { committedByPlace, type Group } from '#platform/kafka/committed-offsets.js'
import type { Kafka } from '#platform/kafka/kafka.js'
import { placeOf } from '#platform/kafka/partitions.js'
import { type Stretch, stretchesOf } from '#platform/kafka/read-topics.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { generationOfSubmitted, submittedTopic } from '#schemas/derive/names.js'
import { groupsOf, sinkGroupsOf } from '#schemas/derive/topics.js'

/** The two steps after the edge: a batch is decided, an event is written. */
export type Stage = 'decide' | 'write'

export type PartitionLag = {
  stage: Stage
  topic: string
  partition: number
  lag: number
  /** When the first message that waits was sent; null where none waits, or where it was not looked at. */
  oldest: Date | null
}

// To find an age takes a connection of its own: the partitions that are furthest behind are looked at.
const mostAges = 8
const readWithin = 3_000

/** How far each partition is behind, by what Kafka knows: all partitions, the worst first. */
export const findLag = async (kafka: Kafka, catalogue: Catalogue): Promise<PartitionLag[]> => {
  const stages = stagesOf(catalogue, generationsIn(await kafka.withAdmin((admin) => admin.listTopics())))
  const groups = Object.values(stages).flat()
  const topics = groups.flatMap((group) => group.topics)
  const [stretches, committed] = await Promise.all([stretchesOf(kafka, topics), committedByPlace(kafka, groups)])
  const lags = lagsOf(stages, stretches, committed)
  const stageOf = (one: Stage) => lags.filter(({ stage, lag }) => stage === one && lag > 0)
  const worst = new Set((['decide', 'write'] as const).flatMap((stage) => stageOf(stage).slice(0, mostAges)))
  return Promise.all(
    lags.map(async (unread) => {
      const { next: _, ...lag } = unread
      return { ...lag, oldest: worst.has(unread) ? await timeAt(kafka, unread).catch(() => null) : null }
    }),
  )
}

type Unread = Omit<PartitionLag, 'oldest'> & { next: number }

/** What is left to read of each partition, the most first. */
export const lagsOf = (
  stages: Record<Stage, readonly Group[]>,
  stretches: readonly Stretch[],
  committed: ReadonlyMap<string, number>,
): Unread[] => {
  const stageOf = (topic: string): Stage =>
    stages.decide.some(({ topics }) => topics.includes(topic)) ? 'decide' : 'write'
  const isOver = createIsOver(stretches, committed)
  return stretches
    .filter((stretch) => !isOver(stretch))
    .map(({ topic, partition, from, until }) => {
      // A group that never committed begins with the first message; what was deleted is not waited for.
      const next = Math.max(from, committed.get(placeOf({ topic, partition })) ?? from)
      return { stage: stageOf(topic), topic, partition, lag: Math.max(0, until - next), next }
    })
    .sort((a, b) => b.lag - a.lag || (placeOf(a) < placeOf(b) ? -1 : 1))
}

/** The generations of submitted topics that Kafka has: Postgres, which knows them all, may be away. */
const generationsIn = (topics: readonly string[]): number[] => {
  const found = topics.filter((topic) => topic.startsWith(submittedTopic(''))).map(generationOfSubmitted)
  return [...new Set([0, ...found])]
}

/** Kafka forgets the offsets of a group without members: what is left of an earlier generation then is decided long ago. */
const createIsOver = (stretches: readonly Stretch[], committed: ReadonlyMap<string, number>) => {
  const submitted = stretches.filter(({ topic }) => topic.startsWith(submittedTopic('')))
  const newest = Math.max(0, ...submitted.map(({ topic }) => generationOfSubmitted(topic)))
  return (stretch: Stretch): boolean =>
    submitted.includes(stretch) && generationOfSubmitted(stretch.topic) < newest && !committed.has(placeOf(stretch))
}

const stagesOf = (catalogue: Catalogue, generations: readonly number[]): Record<Stage, Group[]> => {
  return {
    decide: generations.flatMap((generation) => Object.values(groupsOf(catalogue, generation))),
    write: Object.values(sinkGroupsOf(catalogue)),
  }
}

const timeAt = async (kafka: Kafka, { topic, partition, next }: Unread): Promise<Date | null> => {
  const found = await kafka.withPartitionReader({ topic, partition, ms: readWithin }, (reader) => reader.read(next))
  const first = found?.messages.find(({ offset }) => offset >= next)
  return first ? new Date(first.timestamp) : null
}
