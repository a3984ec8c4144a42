import type { Log } from '#platform/health/log.js'
import { partitionOf } from '#platform/kafka/partitions.js'
import type { Message, Producer } from '#platform/kafka/producer.js'
import type { FailAt } from '#platform/process/fail-point.js'
import type { Registry } from '#platform/registry.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { submittedSchema } from '#schemas/derive/avro.js'
import { subjectOf, submittedTopic } from '#schemas/derive/names.js'
import { createBatchCodec, type OutgoingBatch } from '#schemas/derive/submitted/batch-bytes.js'
import { partitionsOf } from '#schemas/derive/topics.js'

/**
 * Appends a request's batches in order, within so many milliseconds; resolves to how many of them, from the first on, are
 * known to be written. From then on nothing more of the request is written.
 */
export type PublishBatches = (type: string, batches: readonly OutgoingBatch[], within: number) => Promise<number>

/** The topic that a type's batches go to, and how they are encoded for it. */
export type SubmittedTopic = { topic: string; partitions: number; encode: (batch: OutgoingBatch) => Buffer }

const bytesPerSend = 1024 * 1024

export const createPublish =
  (deps: {
    producer: Pick<Producer, 'send'>
    topicOf: (type: string) => SubmittedTopic
    failAt: FailAt
    log: Log
  }): PublishBatches =>
  async (type, batches, within) => {
    const { topic, partitions, encode } = deps.topicOf(type)
    const deadline = performance.now() + within
    let written = 0
    try {
      for (const { orgId, messages } of sends(batches, encode)) {
        await deps.producer.send(topic, partitionOf(orgId, partitions), messages, { deadline })
        deps.failAt('after-submit-acked')
        written += messages.length
      }
    } catch (error) {
      // Kafka may have written the failed send all the same. Later batches must not overtake it, so none of them is sent.
      const requestId = batches[0]?.request_id
      deps.log.error(
        { err: error, topic, request_id: requestId, written, batches: batches.length },
        'batches not published',
      )
    }
    return written
  }

type Send = { orgId: string; messages: Message[] }

// Each send is put together when its turn comes: a large request is never held twice over, as records and as batches.
function* sends(batches: readonly OutgoingBatch[], encode: SubmittedTopic['encode']): Generator<Send> {
  let send: Send | undefined
  let bytes = 0
  for (const batch of batches) {
    const value = encode(batch)
    if (send && bytes + value.length > bytesPerSend) {
      yield send
      send = undefined
      bytes = 0
    }
    send ??= { orgId: batch.org_id, messages: [] }
    send.messages.push({ key: batch.org_id, value })
    bytes += value.length
  }
  if (send) yield send
}

/**
 * The submitted topic of each type. Their schemas were registered when the topics were made; it is an error if one is
 * not known.
 */
export const openSubmittedTopics = async (
  catalogue: Catalogue,
  registry: Registry,
): Promise<(type: string) => SubmittedTopic> => {
  const topics = new Map<string, SubmittedTopic>()
  for (const [name, type] of catalogue.all) {
    const topic = submittedTopic(name)
    const header = await registry.header(subjectOf(topic), submittedSchema(type))
    const { encode } = createBatchCodec(type)
    topics.set(name, { topic, encode: (batch) => encode(batch, header), partitions: partitionsOf(catalogue, topic) })
  }
  return (type) => {
    const topic = topics.get(type)
    if (!topic) throw new Error(`nothing is called ${type}`)
    return topic
  }
}
