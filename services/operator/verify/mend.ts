import type { Message, Producer } from '#platform/kafka/kafka.js'
import { partitionOf } from '#platform/kafka/partitions.js'
import { acceptedTopic, rejectedTopic } from '#schemas/derive/names.js'
import { partitionsOf } from '#schemas/derive/topics.js'
import type { TurnedBack } from './check-accepted.js'
import { createEventMaker, type Made } from './event-maker.js'
import { missingOf } from './expectations.js'
import { watchKeys } from './key-watch.js'
import type { Subject, TypeUnder } from './subject.js'

/** How many events were published again, and what nobody can make again. */
export type Mended = { events: number; rejections: number; lost: string[] }

/** Publishes what is missing, and the newest event of each key that was turned back. */
export const mend = async (subject: Subject, turnedBack: readonly TurnedBack[]): Promise<Mended> => {
  const mended: Mended = { events: 0, rejections: 0, lost: [] }
  const producer = await subject.kafka.createProducer()
  try {
    for (const one of subject.types.values()) {
      const keys = turnedBack.filter(({ type }) => type === one.type.type).map(({ key }) => key)
      await mendType(subject, one, keys, producer, mended)
    }
  } finally {
    await producer.close()
  }
  return mended
}

// Each round finds what came while the last one published. One that never ends has an enemy, not a race.
const mostRounds = 10

const mendType = async (
  subject: Subject,
  one: TypeUnder,
  turnedBack: readonly string[],
  producer: Producer,
  mended: Mended,
): Promise<void> => {
  const lacking = [...one.expectations.all()].filter((expected) => !expected.isInFlight && lacks(expected))
  if (lacking.length + turnedBack.length === 0) return
  const topic = acceptedTopic(one.type.type)
  const maker = await createEventMaker(subject, one.type)
  const send = createSend(subject, producer)

  const { accepted, rejected } = await maker.missing(lacking)
  await send(rejectedTopic, rejected)
  mended.rejections += rejected.length

  const keys = new Set([...turnedBack, ...accepted.map(({ key }) => key)])
  const watch = await watchKeys(subject, one.type, keys)
  for (let round = 0, next = accepted; ; round++) {
    await send(topic, next)
    mended.events += next.length
    // An event that was missing may be older than what is there, and something newer may have come since the last look.
    await watch.look()
    const late = watch.turnedBack().filter(({ key }) => !mended.lost.includes(`${topic} ${key}`))
    if (late.length === 0) return
    if (round === mostRounds) throw new Error(`${topic}: old events keep coming after newer ones`)
    next = await maker.ofVersions(late)
    const made = new Set(next.map(({ key }) => key))
    mended.lost.push(...late.filter(({ key }) => !made.has(key)).map(({ key }) => `${topic} ${key}`))
  }
}

const lacks = (expected: Parameters<typeof missingOf>[0]): boolean =>
  missingOf(expected, 'accepted').length > 0 || missingOf(expected, 'refused').length > 0

/** Older versions first, as they were published. */
const createSend =
  ({ catalogue }: Subject, producer: Producer) =>
  async (topic: string, made: readonly Made[]): Promise<void> => {
    const partitions = partitionsOf(catalogue, topic)
    const queues = new Map<number, Message[]>()
    for (const { key, value } of [...made].sort((a, b) => a.version - b.version)) {
      const partition = partitionOf(key, partitions)
      const queue = queues.get(partition)
      if (queue) queue.push({ key, value })
      else queues.set(partition, [{ key, value }])
    }
    for (const [partition, queue] of queues) await producer.send(topic, partition, queue)
  }
