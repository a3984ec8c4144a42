import { placeOf } from '#platform/kafka/partitions.js'

/** Topics in memory: partitions that are only ever appended to. */
export type Log<Value> = {
  /** Returns the offset. */
  append: (topic: string, partition: number, value: Value) => number
  read: (topic: string, partition: number, from: number, until?: number) => Value[]
  end: (topic: string, partition: number) => number
  /** Every partition that was ever written to. */
  places: () => TopicPartition[]
}

export type TopicPartition = { topic: string; partition: number }

export const createLog = <Value>(): Log<Value> => {
  const partitions = new Map<string, TopicPartition & { values: Value[] }>()
  const at = (topic: string, partition: number) => {
    const place = placeOf({ topic, partition })
    const found = partitions.get(place) ?? { topic, partition, values: [] }
    partitions.set(place, found)
    return found.values
  }
  return {
    append: (topic, partition, value) => at(topic, partition).push(value) - 1,
    read: (topic, partition, from, until) => at(topic, partition).slice(from, until),
    end: (topic, partition) => at(topic, partition).length,
    places: () => [...partitions.values()],
  }
}
