import { rejectedSchema } from '#schemas/derive/avro.js'
import { rejectedTopic, subjectOf } from '#schemas/derive/names.js'
import type { RejectedEvent } from '#schemas/events.js'
import { toSetAside, type Unreadable } from '#schemas/set-aside.js'
import { derivedId } from '../derived-id.js'
import type { Log } from '../health/log.js'
import type { Metrics } from '../health/metrics.js'
import type { Registry } from '../registry.js'
import type { Producer } from './kafka.js'
import { partitionOf } from './partition-of.js'

export type SetAside = (message: Unreadable) => Promise<void>

/** Puts a message that nobody can read among the rejections, so that the consumer can go on and people can look at it. */
export const createSetAside = async (deps: {
  producer: Producer
  registry: Registry
  partitions: number
  metrics: Metrics
  log: Log
}): Promise<SetAside> => {
  const encode = await deps.registry.encoder<RejectedEvent>(subjectOf(rejectedTopic), rejectedSchema())
  const count = deps.metrics.counter('set_aside_total', 'Messages that nobody can read, set aside.', ['topic'])
  return async (message) => {
    const { topic, partition, offset, reason } = message
    const batchId = derivedId('set aside', topic, String(partition), String(offset))
    const event = toSetAside(message, batchId)
    await deps.producer.send(rejectedTopic, partitionOf(batchId, deps.partitions), [
      { key: batchId, value: encode(event) },
    ])
    count.inc({ topic })
    deps.log.error({ topic, partition, offset, reason }, 'message cannot be read and is set aside')
  }
}
