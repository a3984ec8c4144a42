import { submittedTopic } from '#schemas/derive/names.js'
import type { SubmittedBatch } from '#schemas/events.js'
import { partitions, types } from './edge.js'
import { type Log, type Place, placeOf } from './log.js'

/** Who owns which partition, and what was committed. A generation ends with every rebalance. */
export const createConsumerGroup = (submitted: Log<SubmittedBatch>) => {
  const places: Place[] = [...types.keys()].flatMap((type) =>
    Array.from({ length: partitions }, (_, partition) => ({ topic: submittedTopic(type), partition })),
  )
  const owners = new Map<string, number>()
  const committed = new Map<string, number>()
  /** Where the owner reads next, where that is not what was committed. */
  const positions = new Map<string, number>()
  let generation = 0

  const positionOf = (place: Place): number => positions.get(placeOf(place)) ?? committed.get(placeOf(place)) ?? 0

  return {
    places,
    committed,
    positionOf,
    generation: () => generation,
    owns: (i: number, place: Place): boolean => owners.get(placeOf(place)) === i,
    ownerOf: (place: Place): number | undefined => owners.get(placeOf(place)),
    hasMore: (place: Place): boolean => positionOf(place) < submitted.end(place.topic, place.partition),

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
    /** kafkajs begins again at what was committed. */
    beginAgain: (place: Place): void => void positions.delete(placeOf(place)),
    jump: (place: Place, offset: number): void => void positions.set(placeOf(place), offset),
    commit: (place: Place, offset: number): void => {
      committed.set(placeOf(place), offset)
      positions.set(placeOf(place), offset)
    },
    describe: (): string =>
      places.map((place) => `${placeOf(place)} to ${owners.get(placeOf(place)) ?? 'nobody'}`).join(', '),
  }
}
