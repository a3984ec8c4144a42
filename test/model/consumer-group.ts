import { placeOf } from '#platform/kafka/partitions.js'
import { submittedTopic } from '#schemas/derive/names.js'
import type { SubmittedBatch } from '#schemas/events.js'
import { partitions, types } from './edge.js'
import type { Log, TopicPartition } from './log.js'

/** Which instance owns which partition, and the committed offsets. Every rebalance begins a new generation. */
export const createConsumerGroup = (submitted: Log<SubmittedBatch>) => {
  const places: TopicPartition[] = [...types.keys()].flatMap((type) =>
    Array.from({ length: partitions }, (_, partition) => ({ topic: submittedTopic(type), partition })),
  )
  const owners = new Map<string, number>()
  const committed = new Map<string, number>()
  /** Where the owner reads next, if that differs from what was committed. */
  const positions = new Map<string, number>()
  let generation = 0

  const positionOf = (place: TopicPartition): number =>
    positions.get(placeOf(place)) ?? committed.get(placeOf(place)) ?? 0

  return {
    places,
    committed,
    positionOf,
    generation: () => generation,
    owns: (i: number, place: TopicPartition): boolean => owners.get(placeOf(place)) === i,
    ownerOf: (place: TopicPartition): number | undefined => owners.get(placeOf(place)),
    hasMore: (place: TopicPartition): boolean =>
      submitted.entries(place.topic, place.partition, positionOf(place), 1).length > 0,

    /** Each partition goes to the instance that is named for it, or to none. */
    rebalance: (named: readonly (number | undefined)[]): void => {
      generation++
      owners.clear()
      positions.clear()
      places.forEach((place, n) => {
        const owner = named[n % named.length]
        if (owner !== undefined) owners.set(placeOf(place), owner)
      })
    },
    leave: (i: number): void => {
      for (const place of places) {
        if (owners.get(placeOf(place)) !== i) continue
        owners.delete(placeOf(place))
        positions.delete(placeOf(place))
      }
    },
    /** After a failure kafkajs begins again at the committed offset. */
    beginAgain: (place: TopicPartition): void => void positions.delete(placeOf(place)),
    loseOffsets: (): void => committed.clear(),
    jump: (place: TopicPartition, offset: number): void => void positions.set(placeOf(place), offset),
    commit: (place: TopicPartition, offset: number): void => {
      committed.set(placeOf(place), offset)
      positions.set(placeOf(place), offset)
    },
    describe: (): string =>
      places.map((place) => `${placeOf(place)} to ${owners.get(placeOf(place)) ?? 'nobody'}`).join(', '),
  }
}
