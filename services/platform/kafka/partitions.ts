export type TopicPartition = { topic: string; partition: number }

/** A partition's name, as a key in maps and for people to read. */
export const placeOf = ({ topic, partition }: TopicPartition): string => `${topic}/${partition}`

const laterTopic = /\.g([1-9]\d?)$/
const countedFromOf = new Map<string, number>()

/**
 * The number that a topic's first offset has outside of this room. A log that goes on in another topic, named with `.g1` at its end, is
 * counted on there from 2^36: so an offset says by itself which topic of the log it belongs to, and a later one is higher.
 */
export const countedFrom = (topic: string): number => {
  const known = countedFromOf.get(topic)
  if (known !== undefined) return known
  const from = Number(laterTopic.exec(topic)?.[1] ?? 0) * offsetsOfOneTopic
  countedFromOf.set(topic, from)
  return from
}

/** A message with the offset that its topic is counted by. */
export const counted = (topic: string): (<Message extends { offset: number }>(message: Message) => Message) => {
  const from = countedFrom(topic)
  return (message) => (from === 0 ? message : { ...message, offset: message.offset + from })
}

/** 1000 messages a second fill a partition in two years. */
export const offsetsOfOneTopic = 2 ** 36

/** The partition that every other Kafka client chooses for this key. kafkajs's own took 10 µs a key, this takes 0.2. */
export const partitionOf = (key: string, partitions: number): number => {
  const bytes = 3 * key.length <= room.length ? room : Buffer.from(key)
  const length = bytes === room ? room.write(key) : bytes.length
  return (murmur2(bytes, length) & 0x7fffffff) % partitions
}

// For the bytes of one key after another: to make a buffer for each, and to read words with its methods, took twice as long.
const room = Buffer.alloc(1024)

/** The lane of a record: the first for one without an id. A refused id may be written in capitals, and be a record's. */
export const laneOf = (id: string | null, lanes: number): number =>
  lanes === 1 || id === null ? 0 : partitionOf(id.toLowerCase(), lanes)

/** An organisation's lanes lie side by side from its partition on, so that instances share its work. */
export const partitionOfLane = (orgId: string, lane: number, partitions: number): number =>
  (partitionOf(orgId, partitions) + lane) % partitions

const multiplier = 0x5bd1e995

const murmur2 = (bytes: Buffer, length: number): number => {
  const byte = (at: number): number => bytes[at] as number
  let hash = 0x9747b28c ^ length
  let at = 0
  for (; at + 4 <= length; at += 4) {
    let word = byte(at) | (byte(at + 1) << 8) | (byte(at + 2) << 16) | (byte(at + 3) << 24)
    word = Math.imul(word, multiplier)
    word = Math.imul(word ^ (word >>> 24), multiplier)
    hash = Math.imul(hash, multiplier) ^ word
  }
  const rest = length - at
  if (rest >= 3) hash ^= byte(at + 2) << 16
  if (rest >= 2) hash ^= byte(at + 1) << 8
  if (rest >= 1) hash = Math.imul(hash ^ byte(at), multiplier)
  hash = Math.imul(hash ^ (hash >>> 13), multiplier)
  return hash ^ (hash >>> 15)
}
