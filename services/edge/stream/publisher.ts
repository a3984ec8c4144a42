import { groupBy } from '#platform/group-by.js'
import type { Log } from '#platform/health/log.js'
import type { Message, Producer } from '#platform/kafka/producer.js'
import type { FailAt } from '#platform/process/fail-point.js'
import { headerOf, type Registry } from '#platform/registry.js'
import type { Tracing } from '#platform/tracing/tracing.js'
import { createBatchCodec, type OutgoingBatch } from '#schemas/byte-path/byte-path.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { submittedSchema } from '#schemas/derive/avro.js'
import { subjectOf, submittedKey, submittedTopic } from '#schemas/derive/names.js'
import type { Places } from '../batches/places.js'

/** Appends batches in order, within this many milliseconds; resolves to how many, from the first on, are surely written. */
export type PublishBatches = (
  type: string,
  batches: readonly OutgoingBatch[],
  within: number,
  traceparent?: string,
) => Promise<number>

/** The topic that a type's batches go to, the partition of each, and how they are encoded for it. */
export type SubmittedTopic = {
  topicOf: (generation: number | undefined) => string
  partitionFor: (batch: OutgoingBatch) => number
  encode: (batch: OutgoingBatch) => Buffer
}

const bytesPerSend = 1024 * 1024

export const createPublish =
  (deps: {
    producer: Pick<Producer, 'send'>
    topicOf: (type: string) => SubmittedTopic
    /** Called where Kafka has refused batches: their topic may be closed. */
    onRefused?: () => void
    tracing?: Tracing
    failAt: FailAt
    log: Log
  }): PublishBatches =>
  async (type, batches, within, traceparent) => {
    const { topicOf, partitionFor, encode } = deps.topicOf(type)
    // The batches of one request were cut at once, and so for the same topics.
    const topic = topicOf(batches[0]?.generation)
    const span = traceparent ? deps.tracing?.goOn(`publish ${topic}`, 'producer', traceparent) : undefined
    const deadline = performance.now() + within
    const publishLane = async (partition: number, lane: readonly OutgoingBatch[]): Promise<number> => {
      let written = 0
      try {
        for (const messages of sends(lane, encode, span?.traceparent)) {
          await deps.producer.send(topic, partition, messages, { deadline })
          deps.failAt('after-submit-acked')
          written += messages.length
        }
      } catch (error) {
        // Kafka may have written the failed send all the same: later batches of this partition must not overtake it.
        const requestId = batches[0]?.request_id
        deps.log.error(
          { err: error, topic, partition, request_id: requestId, written, batches: lane.length },
          'batches not published',
        )
        deps.onRefused?.()
      }
      return written
    }
    // One after another within a partition, which keeps the order of a record's writes; the partitions side by side.
    const lanes = [...groupBy(batches, partitionFor)]
    const written = await Promise.all(lanes.map(([partition, lane]) => publishLane(partition, lane)))
    span?.end({ 'messaging.batch.message_count': batches.length })
    const isWritten = new Set(lanes.flatMap(([, lane], i) => lane.slice(0, written[i])))
    const firstMissing = batches.findIndex((batch) => !isWritten.has(batch))
    return firstMissing === -1 ? batches.length : firstMissing
  }

// Each send is put together when its turn comes: a large request is never held twice over, as records and as batches.
function* sends(
  batches: readonly OutgoingBatch[],
  encode: SubmittedTopic['encode'],
  traceparent: string | undefined,
): Generator<Message[]> {
  let messages: Message[] = []
  let bytes = 0
  for (const batch of batches) {
    const value = encode(batch)
    if (messages.length > 0 && bytes + value.length > bytesPerSend) {
      yield messages
      messages = []
      bytes = 0
    }
    messages.push(traceparent ? { key: submittedKey(batch), value, traceparent } : { key: submittedKey(batch), value })
    bytes += value.length
  }
  if (messages.length > 0) yield messages
}

/** The submitted topics of each type. Their schema was registered when the topic was made; an unknown one is an error. */
export const openSubmittedTopics = async (
  catalogue: Catalogue,
  registry: Registry,
  { partitionFor }: Pick<Places, 'partitionFor'>,
): Promise<(type: string) => SubmittedTopic> => {
  const topics = new Map<string, SubmittedTopic>()
  for (const [name, type] of catalogue.all) {
    // All generations share the subject of the first.
    const header = headerOf(await registry.prepare(subjectOf(submittedTopic(name)), submittedSchema(type)))
    const { encode } = createBatchCodec(type)
    topics.set(name, {
      topicOf: (generation) => submittedTopic(name, generation),
      encode: (batch) => encode(batch, header),
      partitionFor: (batch) => partitionFor(name, batch),
    })
  }
  return (type) => {
    const topic = topics.get(type)
    if (!topic) throw new Error(`nothing is called ${type}`)
    return topic
  }
}
