import { randomUUID } from 'node:crypto'
import { Kafka, logLevel } from 'kafkajs'
import { eventually } from '../eventually.js'

export type Seen = { topic: string; key: string; headers: string; value: Buffer }

/** Everything that is written to Weir's topics from now on, as it is on the wire. */
export const watchTopics = async (brokers: string): Promise<{ since: () => Promise<Seen[]> }> => {
  const kafka = new Kafka({ brokers: brokers.split(','), logLevel: logLevel.NOTHING })
  const admin = kafka.admin()
  await admin.connect()
  const ends = async () => {
    const topics = (await admin.listTopics()).filter((topic) => topic.startsWith('weir.'))
    const offsets = await Promise.all(topics.map((topic) => admin.fetchTopicOffsets(topic)))
    return topics.flatMap((topic, i) =>
      (offsets[i] ?? []).map(({ partition, high }) => ({ topic, partition, offset: Number(high) })),
    )
  }
  const starts = new Map((await ends()).map(({ topic, partition, offset }) => [`${topic}/${partition}`, offset]))

  const since = async (): Promise<Seen[]> => {
    const wanted = (await ends())
      .map((end) => ({ ...end, start: starts.get(`${end.topic}/${end.partition}`) ?? 0 }))
      .filter(({ start, offset }) => start < offset)
    const count = wanted.reduce((sum, { start, offset }) => sum + offset - start, 0)
    const seen: Seen[] = []
    // By default Kafka holds a request for new messages for 5 s, and the first one is sent before `seek` below counts.
    const consumer = kafka.consumer({ groupId: `watch-${randomUUID()}`, maxWaitTimeInMs: 100 })
    await consumer.connect()
    try {
      await consumer.subscribe({ topics: [...new Set(wanted.map(({ topic }) => topic))], fromBeginning: false })
      await consumer.run({
        eachMessage: async ({ topic, message: { key, headers, value } }) => {
          seen.push({
            topic,
            key: String(key),
            headers: JSON.stringify(textOf(headers)),
            value: value ?? Buffer.alloc(0),
          })
        },
      })
      for (const { topic, partition, start } of wanted) consumer.seek({ topic, partition, offset: String(start) })
      await eventually(() => {
        if (seen.length < count) throw new Error(`${seen.length} of ${count} messages were read`)
      })
      return seen
    } finally {
      await consumer.disconnect()
      await admin.disconnect()
    }
  }
  return { since }
}

const textOf = (headers: object | undefined): Record<string, string> =>
  Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name, String(value)]))
