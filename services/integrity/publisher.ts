import type { Decided } from '#ledger/fence.js'
import { partitionOf } from '#platform/kafka/partitions.js'
import type { Message, Producer } from '#platform/kafka/producer.js'
import type { FailAt } from '#platform/process/fail-point.js'
import { createPauses } from '#platform/process/pauses.js'
import { headerOf, type Registry } from '#platform/registry.js'
import { createSplice } from '#schemas/byte-path/byte-path.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { schemasByTopic } from '#schemas/derive/avro.js'
import {
  acceptedTopic,
  entityKey,
  rejectedKey,
  rejectedTopic,
  subjectOf,
  togetherOf,
  verdictsTopic,
} from '#schemas/derive/names.js'
import { type Layout, partitionsOf } from '#schemas/derive/topics.js'
import type { RejectedEvent, VerdictEvent } from '#schemas/events.js'
import type { RecordType } from '#schemas/record.js'
import type { Scanned } from './read-batch.js'

export type PublishDecisions = (outcomes: readonly Decided<Scanned>[], holdsPartition: () => boolean) => Promise<void>

/** Publishes what was decided on batches of one type. Publishing the same twice changes nothing. */
export const createPublisher = async (deps: {
  catalogue: Catalogue
  type: RecordType
  producer: Pick<Producer, 'send'>
  registry: Registry
  layout: Layout
  failAt: FailAt
}): Promise<PublishDecisions> => {
  const { catalogue, type, producer, registry, layout } = deps
  const schemas = schemasByTopic(catalogue.all.values())
  const topic = acceptedTopic(type.type)
  const partitions = new Map([topic, rejectedTopic, verdictsTopic].map((name) => [name, partitionsOf(layout, name)]))
  const encoderOf = <T>(name: string) => registry.encoder<T>(subjectOf(name), schemas.get(name))
  const encodeRejected = await encoderOf<RejectedEvent>(rejectedTopic)
  const encodeVerdict = await encoderOf<VerdictEvent>(verdictsTopic)
  const splice = createSplice(type, headerOf(await registry.prepare(subjectOf(topic), schemas.get(topic))))

  const sendAll = async (queues: Queues, holdsPartition: () => boolean): Promise<void> => {
    // A process that was asleep and lost the partition must not publish old events after the new owner's.
    const mayGoOn = (): void => {
      if (!holdsPartition()) throw new Error('this consumer may have lost its partition; it joins its group again')
    }
    const all = [...queues].flatMap(([to, ofTopic]) =>
      ofTopic.flatMap((messages, partition) => ({ to, partition, messages })),
    )
    let left = all.length
    const sends = all.map(async ({ to, partition, messages }) => {
      await producer.send(to, partition, messages, { mayGoOn })
      if (--left > 0) deps.failAt('after-partial-publish')
    })
    // All of them have ended, well or not, before anything else happens to the partition: one that still tried would land
    // behind the events of the next fetch.
    const failed = (await Promise.allSettled(sends)).find(isRejected)
    if (failed) throw failed.reason
  }

  // An event has the header of the batch that it comes from, so that one which is published again is the same to the last byte.
  const add = (queues: Queues, to: string, key: string, value: Buffer, traceparent?: string): void => {
    const partition = partitionOf(to === rejectedTopic ? togetherOf(key) : key, partitions.get(to) ?? 1)
    const ofTopic = queues.get(to) ?? []
    queues.set(to, ofTopic)
    const messages = ofTopic[partition] ?? []
    ofTopic[partition] = messages
    messages.push(traceparent ? { key, value, traceparent } : { key, value })
  }

  return async (outcomes, holdsPartition) => {
    // Verdicts first, because uploaders wait for them; encoding thousands of events before would take its time.
    const pause = createPauses()
    const verdicts: Queues = new Map()
    for (const { batch, verdict, traceparent } of outcomes) {
      await pause()
      add(verdicts, verdictsTopic, batch.batch_id, encodeVerdict(verdict), traceparent)
    }
    const sent = sendAll(verdicts, holdsPartition)
    // Awaited below, where its failure counts.
    sent.catch(() => {})

    const records: Queues = new Map()
    for (const { batch, verdict, isTheOneDecided, traceparent } of outcomes) {
      if (!isTheOneDecided) continue
      await pause()
      for (const { id, value } of splice.accepted(batch, verdict)) {
        add(records, topic, entityKey(batch.org_id, id), value, traceparent)
      }
      for (const event of splice.rejected(batch, verdict)) {
        add(records, rejectedTopic, rejectedKey(event), encodeRejected(event), traceparent)
      }
    }
    if (records.size > 0) deps.failAt('after-partial-publish')
    // Both have ended, well or not, before anything else happens to the partition.
    const failed = (await Promise.allSettled([sent, sendAll(records, holdsPartition)])).find(isRejected)
    if (failed) throw failed.reason
  }
}

const isRejected = (sent: PromiseSettledResult<void>): sent is PromiseRejectedResult => sent.status === 'rejected'

/** What is to be sent, by topic and partition. */
type Queues = Map<string, Message[][]>
