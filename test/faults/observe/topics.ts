import { randomUUID } from 'node:crypto'
import avro from 'avsc'
import { Kafka, logLevel } from 'kafkajs'
import { placeOf } from '#platform/kafka/partitions.js'
import { eventually } from '../../support/eventually.js'

/** A message on one of Weir's topics, decoded with the schema that it names. */
export type Seen = {
  topic: string
  partition: number
  offset: number
  key: string
  /** As it is on the wire: two tellings of one thing are equal byte for byte. */
  bytes: string
  value: Record<string, unknown>
}

export type TopicReader = ReturnType<typeof createTopicReader>

const readWithin = 300_000

/** Reads Weir's topics as any other team would: Kafka's client, Avro, and the registry's ids. Each call goes on from the last. */
export const createTopicReader = ({ brokers, registryUrl }: { brokers: string; registryUrl: string }) => {
  const kafka = new Kafka({ brokers: brokers.split(','), logLevel: logLevel.NOTHING })
  const positions = new Map<string, number>()
  const types = new Map<number, avro.Type>()

  const decode = async (message: Buffer): Promise<Record<string, unknown>> => {
    const id = message.readInt32BE(1)
    const known = types.get(id)
    if (known) return known.fromBuffer(message.subarray(5))
    const { schema } = (await (await fetch(`${registryUrl}/schemas/ids/${id}`)).json()) as { schema: string }
    const type = avro.Type.forSchema(JSON.parse(schema))
    types.set(id, type)
    return type.fromBuffer(message.subarray(5))
  }

  const ends = async () => {
    const admin = kafka.admin()
    await admin.connect()
    try {
      const topics = (await admin.listTopics()).filter((topic) =>
        /^weir\.(accepted|interactions|rejected|verdicts|waiting)/.test(topic),
      )
      const found: { topic: string; partition: number; until: number }[] = []
      // One after another: kafkajs loses a topic that is asked for while it learns of another one.
      for (const topic of topics)
        for (const { partition, high } of await admin.fetchTopicOffsets(topic))
          found.push({ topic, partition, until: Number(high) })
      return found
    } finally {
      await admin.disconnect()
    }
  }

  /** All that was written since the last call. */
  const readOn = async (): Promise<Seen[]> => {
    const wanted = (await ends())
      .map((end) => ({ ...end, from: positions.get(placeOf(end)) ?? 0 }))
      .filter(({ from, until }) => from < until)
    if (wanted.length === 0) return []
    const left = new Map(wanted.map((stretch) => [placeOf(stretch), { ...stretch }]))
    const seen: Seen[] = []
    // By default Kafka holds a request for new messages for 5 s, and the first one is sent before `seek` below counts.
    const consumer = kafka.consumer({ groupId: `faults-${randomUUID()}`, retry: { retries: 20 }, maxWaitTimeInMs: 100 })
    await consumer.connect()
    try {
      await consumer.subscribe({ topics: [...new Set(wanted.map(({ topic }) => topic))], fromBeginning: false })
      await consumer.run({
        autoCommit: false,
        eachMessage: async ({ topic, partition, message: { offset, key, value } }) => {
          const stretch = left.get(placeOf({ topic, partition }))
          const at = Number(offset)
          if (!stretch || at < stretch.from || at >= stretch.until) return
          // Without a value: what had this key was erased.
          if (value)
            seen.push({
              topic,
              partition,
              offset: at,
              key: String(key),
              bytes: value.toString('base64'),
              value: await decode(value),
            })
          stretch.from = at + 1
        },
      })
      for (const { topic, partition, from } of wanted) consumer.seek({ topic, partition, offset: String(from) })
      await eventually(() => {
        const behind = [...left.values()].find(({ from, until }) => from < until)
        if (behind) throw new Error(`cannot read ${behind.topic}/${behind.partition} on from offset ${behind.from}`)
      }, readWithin)
    } finally {
      await consumer.disconnect()
    }
    for (const stretch of wanted) positions.set(placeOf(stretch), stretch.until)
    return seen
  }
  return { readOn }
}
