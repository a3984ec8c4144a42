import { Unavailable } from '#http/request-error.js'
import type { Generation } from '#ledger/layout/layout.js'
import type { Log } from '#platform/health/log.js'
import { createRecentFailures } from '#platform/health/recent-failures.js'
import type { Consumer, Kafka } from '#platform/kafka/kafka.js'
import type { Producer } from '#platform/kafka/producer.js'
import type { FailAt } from '#platform/process/fail-point.js'
import type { Crash } from '#platform/process/lifecycle.js'
import type { Patience } from '#platform/process/patience.js'
import type { Registry } from '#platform/registry.js'
import type { Tracing } from '#platform/tracing/tracing.js'
import type { OutgoingBatch } from '#schemas/byte-path/byte-path.js'
import type { Catalogue } from '#schemas/catalogue.js'
import type { Layout } from '#schemas/derive/topics.js'
import type { VerdictEvent } from '#schemas/events.js'
import type { Places } from '../batches/places.js'
import { createLayoutWatch } from './layout-watch.js'
import { createPublish, openSubmittedTopics, type PublishBatches } from './publisher.js'
import { followVerdicts } from './verdicts.js'

/** Batches out, verdicts back. Returns at once and connects meanwhile: without Kafka the edge listens, and says so. */
export const openStream = (deps: {
  catalogue: Catalogue
  kafka: Kafka
  /** Waits until it is known how wide the system is. */
  openLayout: () => Promise<Layout>
  /** All layouts that the system has had, has and is about to have. */
  findGenerations: () => Promise<Generation[]>
  /** Waits until Kafka's topics are as wide as that. */
  checkTopics: (layout: Layout) => Promise<void>
  registry: Registry
  patience: Patience
  tracing?: Tracing
  failAt: FailAt
  crash: Crash
  log: Log
}) => {
  const { kafka, registry, patience } = deps
  const writes = createRecentFailures((_, reason) => reason)
  let producer: Producer | undefined
  let feed: Consumer | undefined
  const listeners: ((verdict: VerdictEvent) => void)[] = []
  const onVerdict = (verdict: VerdictEvent): void => {
    for (const listener of listeners) listener(verdict)
  }
  const notYet = () =>
    new Unavailable('nothing can be taken yet: Kafka, Postgres and the schema registry are waited for')
  let publish: PublishBatches = async () => {
    throw notYet()
  }
  const watch = createLayoutWatch({ ...deps, notYet })
  const partitionFor: Places['partitionFor'] = (type, batch) => watch.placesFor(batch).partitionFor(type, batch)

  const open = async (): Promise<void> => {
    const wide = await deps.openLayout()
    watch.begin(wide, await patience.until('layout', deps.findGenerations))
    producer = await patience.until('kafka', kafka.createProducer)
    const { send } = producer
    await deps.checkTopics(wide)
    const topicOf = await patience.until('registry', () =>
      openSubmittedTopics(deps.catalogue, registry, { partitionFor }),
    )
    feed = await patience.until('registry', () => followVerdicts({ ...deps, onVerdict }))
    const watched: Producer['send'] = (topic, partition, messages, options) =>
      writes.watch({ topic, partition }, () => send(topic, partition, messages, options))
    publish = createPublish({ ...deps, producer: { send: watched }, topicOf, onRefused: () => void watch.look() })
  }

  return {
    publish: ((type, batches, within, traceparent) => publish(type, batches, within, traceparent)) as PublishBatches,
    /** How wide the system is, and where its batches go. */
    ...watch,
    /** A name for the partition that a batch goes to. */
    placeOf: (type: string, batch: OutgoingBatch): string => {
      const places = watch.placesFor(batch)
      return places.placeOf(type, places.partitionFor(type, batch))
    },
    /** Calls the listener with each verdict that comes from now on. */
    onVerdict: (listener: (verdict: VerdictEvent) => void): void => void listeners.push(listener),
    /** Ends every publishing under way; from then on nothing is written. */
    giveUp: (): void => producer?.giveUp(),
    /** Resolves once batches can be sent. */
    opened: open().catch(deps.crash),
    /** Throws, saying why, while nothing can be sent or no verdict comes. */
    check: (): void => {
      patience.check('layout')
      patience.check('kafka')
      patience.check('partitions')
      if (!feed) throw new Error('the schema registry is waited for')
      feed.check()
    },
    /** Throws while Kafka answers but does not take batches for some partition. */
    checkWrites: writes.check,
    close: async (): Promise<void> => {
      await feed?.close()
      await producer?.close()
    },
  }
}
