import type { Log } from '../health/log.js'
import type { Metrics } from '../health/metrics.js'
import { partitionOf, type TopicPartition } from './partitions.js'
import type { Message, Producer } from './producer.js'

/** A message that cannot be decoded, its place in the log, and why. */
export type Unreadable = TopicPartition & { offset: number; timestamp: number; value: Buffer; reason: string }

export type SetAside = (message: Unreadable) => Promise<void>

export const createSetAsideCount = (metrics: Metrics) =>
  metrics.counter('set_aside_total', 'Messages that cannot be decoded, set aside.', ['topic'])

/** Publishes a message that cannot be decoded as a rejection, where people find it, so that the consumer can go on. */
export const createSetAside = (deps: {
  producer: Pick<Producer, 'send'>
  /** The topic of the rejections, and how a message looks there. */
  topic: string
  partitions: number
  toMessage: (message: Unreadable) => Message
  metrics: Metrics
  log: Log
}): SetAside => {
  const count = createSetAsideCount(deps.metrics)
  return async (message) => {
    const { topic, partition, offset, reason } = message
    const aside = deps.toMessage(message)
    await deps.producer.send(deps.topic, partitionOf(aside.key, deps.partitions), [aside])
    count.inc({ topic })
    deps.log.error({ topic, partition, offset, reason }, 'message cannot be read and is set aside')
  }
}
