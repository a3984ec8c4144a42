import type { Decided } from '#ledger/fence.js'
import { partitionOf, placeOf } from '#platform/kafka/partitions.js'
import { createEventsOf } from '#schemas/derive/decided-events.js'
import {
  acceptedTopic,
  entityKey,
  rejectedKey,
  rejectedTopic,
  togetherOf,
  verdictsTopic,
} from '#schemas/derive/names.js'
import type { AcceptedEvent, RejectedEvent, VerdictEvent } from '#schemas/events.js'
import { partitions, types } from './edge.js'

export type Published = { topic: string; key: string; value: VerdictEvent | RejectedEvent | AcceptedEvent | null }

/** One partition's share of what is published: appended in order, a few at a time. */
export type Queue = { topic: string; partition: number; messages: Published[] }

/**
 * As services/integrity/publisher.ts: first the verdicts, then the events. The queues of one round are sent concurrently.
 */
export const roundsOf = (
  type: string,
  outcomes: readonly Decided[],
  versionOf: (event: AcceptedEvent) => number,
): Queue[][] => {
  const decided = outcomes.filter(({ isTheOneDecided }) => isTheOneDecided)
  return [
    outcomes.map(({ verdict }) => ({ topic: verdictsTopic, key: verdict.batch_id, value: verdict })),
    decided.flatMap((outcome) => eventsOf(type, outcome, versionOf)),
  ]
    .map(toQueues)
    .filter((queues) => queues.length > 0)
}

const makers = new Map([...types].map(([name, type]) => [name, { id: type.id, of: createEventsOf(type) }]))

const eventsOf = (
  type: string,
  { batch, verdict }: Decided,
  versionOf: (event: AcceptedEvent) => number,
): Published[] => {
  const maker = makers.get(type)
  if (!maker) throw new Error(`nothing is called ${type}`)
  return [
    ...maker.of.accepted(batch, verdict).map((event) => ({
      topic: acceptedTopic(type),
      key: entityKey(event.org_id, String(event[maker.id])),
      value: { ...event, version: versionOf(event) },
    })),
    ...maker.of.rejected(batch, verdict).map((event) => ({
      topic: rejectedTopic,
      key: rejectedKey(event),
      value: event,
    })),
  ]
}

const toQueues = (messages: readonly Published[]): Queue[] => {
  const queues = new Map<string, Queue>()
  for (const message of messages) {
    const partition = message.topic === verdictsTopic ? 0 : partitionOf(togetherOf(message.key), partitions)
    const place = placeOf({ topic: message.topic, partition })
    const queue = queues.get(place) ?? { topic: message.topic, partition, messages: [] }
    queue.messages.push(message)
    queues.set(place, queue)
  }
  return [...queues.values()]
}

export const describePublished = (messages: readonly Published[]): string =>
  messages
    .map(({ topic, key, value }) =>
      topic === verdictsTopic ? `the verdict on ${key}` : `${topic} ${key} version ${(value as AcceptedEvent).version}`,
    )
    .join(', ')
