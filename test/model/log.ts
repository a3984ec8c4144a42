import { placeOf } from '#platform/kafka/partitions.js'

/** Topics in memory: partitions that are only ever appended to. What is removed leaves a hole; what was without a value is passed over by `read`. */
export type Log<Value> = {
  /** Returns the offset. */
  append: (topic: string, partition: number, value: Value | null) => number
  read: (topic: string, partition: number, from: number, until?: number) => Value[]
  /** Each with its offset, also those without a value; `most` of them. */
  entries: (topic: string, partition: number, from: number, most?: number) => Entry<Value>[]
  remove: (place: TopicPartition, offsets: Iterable<number>) => void
  /** The offsets of what was removed. */
  holes: (place: TopicPartition) => number[]
  end: (topic: string, partition: number) => number
  /** Every partition that was ever written to. */
  places: () => TopicPartition[]
}

export type TopicPartition = { topic: string; partition: number }
export type Entry<Value> = { offset: number; value: Value | null }

export const createLog = <Value>(): Log<Value> => {
  const partitions = new Map<string, TopicPartition & { values: (Value | null | undefined)[] }>()
  const at = (topic: string, partition: number) => {
    const place = placeOf({ topic, partition })
    const found = partitions.get(place) ?? { topic, partition, values: [] }
    partitions.set(place, found)
    return found.values
  }
  return {
    append: (topic, partition, value) => at(topic, partition).push(value) - 1,
    read: (topic, partition, from, until) =>
      at(topic, partition)
        .slice(from, until)
        .filter((value) => value !== undefined && value !== null),
    entries: (topic, partition, from, most = Number.POSITIVE_INFINITY) => {
      const values = at(topic, partition)
      const found: Entry<Value>[] = []
      for (let offset = from; offset < values.length && found.length < most; offset++) {
        const value = values[offset]
        if (value !== undefined) found.push({ offset, value })
      }
      return found
    },
    remove: ({ topic, partition }, offsets) => {
      for (const offset of offsets) at(topic, partition)[offset] = undefined
    },
    holes: ({ topic, partition }) =>
      at(topic, partition).flatMap((value, offset) => (value === undefined ? [offset] : [])),
    end: (topic, partition) => at(topic, partition).length,
    places: () => [...partitions.values()],
  }
}
