// The floors: what bare fastify and kafkajs take for a part of what Weir does, without its promises. A process of its own, like
// a service. Prints its address once it listens.
import avsc from 'avsc'
import fastify from 'fastify'
import { Kafka, logLevel } from 'kafkajs'
import { catalogue } from '#schemas/catalogue.js'
import { topics } from './topics.js'

const kafka = new Kafka({ brokers: (process.env.KAFKA_BROKERS ?? '').split(','), logLevel: logLevel.NOTHING })
const producer = kafka.producer()
await producer.connect()

const app = fastify({ bodyLimit: 64 * 1024 * 1024 })
type Upload = { Body: { records: Record<string, string | number | boolean | null>[] } }

type Given = Upload['Body']['records'][number]

/** The naive price: each record is one message, nothing is checked. */
const addNaive = (form: string, valueIn: (record: Given, type: string) => string | Buffer): void => {
  app.post<Upload & { Params: { type: string } }>(`/naive-${form}/:type`, async ({ body: { records }, params }) => {
    const id = catalogue.all.get(params.type)?.id ?? ''
    const messages = records.map((record) => ({ key: String(record[id]), value: valueIn(record, params.type) }))
    // kafkajs copies the array for each message while it groups them: one call with all 5000 would cost several times as much.
    for (let from = 0; from < messages.length; from += 1000)
      await producer.send({ topic: topics.naive, messages: messages.slice(from, from + 1000) })
    return { records: records.length }
  })
}
const recordTypes = new Map<string, avsc.Type>()
addNaive('json', (record) => JSON.stringify(record))
addNaive('avro', (record, type) => {
  const known = recordTypes.get(type) ?? avsc.Type.forSchema({ type: 'record', name: 'One', fields: fieldsOf(record) })
  recordTypes.set(type, known)
  return known.toBuffer(record)
})

/** The floor: the body is parsed, and published as one Avro array in one message. */
let arrayType: avsc.Type | undefined
app.post<Upload>('/floor', async ({ body: { records } }) => {
  arrayType ??= avsc.Type.forSchema({
    type: 'array',
    items: { type: 'record', name: 'R', fields: fieldsOf(records[0] ?? {}) },
  })
  await producer.send({ topic: topics.floor, messages: [{ value: arrayType.toBuffer(records) }] })
  return { records: records.length }
})

/** The bare interaction: each body is one message, answered once Kafka has it. */
app.post('/interaction', async ({ body }, reply) => {
  await producer.send({ topic: topics.interaction, messages: [{ value: JSON.stringify(body) }] })
  return reply.code(201).send({ ...(body as object), interaction_id: 'none' })
})

/** The bare round trip: publish, consume, publish, consume; how long each of them took, one after another. */
app.post<{ Body: { times: number } }>('/round-trips', async ({ body: { times } }) => {
  const back = new Map<string, () => void>()
  const there = await reader(topics.there, (key) =>
    producer.send({ topic: topics.back, messages: [{ key, value: key }] }),
  )
  const here = await reader(topics.back, async (key) => back.get(key)?.())
  const took: number[] = []
  // The first ones wait for the consumers to join their groups.
  for (let n = -20; n < times; n++) {
    const began = performance.now()
    const returned = new Promise<void>((resolve) => back.set(String(n), resolve))
    await producer.send({ topic: topics.there, messages: [{ key: String(n), value: 'x'.repeat(300) }] })
    await returned
    if (n >= 0) took.push(performance.now() - began)
  }
  await Promise.all([there.disconnect(), here.disconnect()])
  return { took }
})

const reader = async (topic: string, onKey: (key: string) => Promise<unknown>) => {
  const consumer = kafka.consumer({ groupId: `bench-${topic}` })
  await consumer.connect()
  await consumer.subscribe({ topics: [topic], fromBeginning: true })
  await consumer.run({ eachMessage: async ({ message }) => void (await onKey(String(message.key))) })
  return consumer
}

const fieldsOf = (record: object): { name: string; type: string }[] =>
  Object.entries(record).map(([name, value]) => ({
    name,
    type: typeof value === 'number' ? 'double' : typeof value === 'boolean' ? 'boolean' : 'string',
  }))

process.on('disconnect', () => process.exit(0))
process.on('SIGINT', () => {})
process.send?.({ url: await app.listen({ host: '127.0.0.1', port: 0 }) })
