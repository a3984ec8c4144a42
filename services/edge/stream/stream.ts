import { setTimeout as sleep } from 'node:timers/promises'
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
import type { OutgoingBatch } from '#schemas/byte-path/byte-path.js'
import type { Catalogue } from '#schemas/catalogue.js'
import type { Layout } from '#schemas/derive/topics.js'
import type { VerdictEvent } from '#schemas/events.js'
import { createPlaces, type Placed, type Places } from '../batches/places.js'
import { type CutLayout, changing } from '../uploads/upload.js'
import { createPublish, openSubmittedTopics, type PublishBatches } from './publisher.js'
import { followVerdicts } from './verdicts.js'

// A change takes three seconds or so.
const holdFor = 10_000

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
  failAt: FailAt
  crash: Crash
  log: Log
}) => {
  const { kafka, registry, patience } = deps
  const writes = createRecentFailures((_, reason) => reason)
  let producer: Producer | undefined
  let feed: Consumer | undefined
  let layout: Layout | undefined
  let history: Pick<CutLayout, 'earlierLanes' | 'isDecidedBefore'> = {}
  const learn = (generations: readonly Generation[]): Generation | undefined => {
    const open = generations.findLast(({ state }) => state !== 'coming')
    const before = generations.filter(({ generation }) => generation < (open?.generation ?? 0))
    const earlier = new Set(before.map(({ lanes }) => lanes).reverse())
    earlier.delete(open?.lanes ?? 0)
    history = { earlierLanes: [...earlier], isDecidedBefore: before.every(({ state }) => state === 'finished') }
    return open
  }
  /** By generation: a request that was cut before a change is written where it was cut for, or not at all. */
  const placesOf = new Map<number, Places>()
  const current = (): Places | undefined => placesOf.get(layout?.generation ?? 0)
  const use = (wide: Layout): void => {
    if (!placesOf.has(wide.generation ?? 0)) placesOf.set(wide.generation ?? 0, createPlaces(deps.catalogue, wide))
    layout = wide
  }
  /** Resolves when the lanes are no longer being changed. */
  let steady: { until: Promise<void>; end: () => void } | undefined
  const hold = (): void => {
    if (steady) return
    let end = (): void => {}
    const until = new Promise<void>((resolve) => {
      end = resolve
    })
    steady = { until, end }
  }
  const goOn = (): void => {
    steady?.end()
    steady = undefined
  }
  let isLooking = false
  const look = async (): Promise<void> => {
    if (isLooking || !producer) return
    isLooking = true
    try {
      const generations = await deps.findGenerations()
      const open = learn(generations)
      if (open && open.generation !== (layout?.generation ?? 0)) {
        await deps.checkTopics(open)
        use(open)
        deps.log.info({ lanes: open.lanes, generation: open.generation }, 'the lanes were changed')
      }
      if (generations.some(({ state }) => state === 'coming')) hold()
      else goOn()
    } catch (error) {
      deps.log.debug({ err: error }, 'layout not looked at')
    } finally {
      isLooking = false
    }
  }
  const listeners: ((verdict: VerdictEvent) => void)[] = []
  const onVerdict = (verdict: VerdictEvent): void => {
    for (const listener of listeners) listener(verdict)
  }
  const notYet = () =>
    new Unavailable('nothing can be taken yet: Kafka, Postgres and the schema registry are waited for')
  let publish: PublishBatches = async () => {
    throw notYet()
  }

  const placesFor = (batch: Placed): Places => {
    const places = placesOf.get(batch.generation ?? 0)
    if (!places) throw notYet()
    return places
  }
  const partitionFor: Places['partitionFor'] = (type, batch) => placesFor(batch).partitionFor(type, batch)

  const open = async (): Promise<void> => {
    const wide = await deps.openLayout()
    learn(await patience.until('layout', deps.findGenerations))
    use(wide)
    producer = await patience.until('kafka', kafka.createProducer)
    const { send } = producer
    await deps.checkTopics(wide)
    const topicOf = await patience.until('registry', () =>
      openSubmittedTopics(deps.catalogue, registry, { partitionFor }),
    )
    feed = await patience.until('registry', () => followVerdicts({ ...deps, onVerdict }))
    const watched: Producer['send'] = (topic, partition, messages, options) =>
      writes.watch({ topic, partition }, () => send(topic, partition, messages, options))
    const onRefused = () => void look()
    publish = createPublish({ producer: { send: watched }, topicOf, onRefused, failAt: deps.failAt, log: deps.log })
  }

  return {
    publish: ((type, batches, within) => publish(type, batches, within)) as PublishBatches,
    /** How wide the system is; throws while that is not known yet. */
    layout: (): Layout => {
      if (!layout) throw notYet()
      return layout
    },
    /** The same, for what is cut into batches by it; throws also while the lanes are being changed. */
    layoutToCut: (): CutLayout => {
      if (!layout) throw notYet()
      if (steady) throw new Unavailable(changing)
      return { ...layout, ...history }
    },
    /** While the lanes are being changed, what resolves once they are; it is not waited for longer than a few seconds. */
    untilSteady: (): Promise<void> | undefined =>
      steady && Promise.race([steady.until, sleep(holdFor, undefined, { ref: false })]),
    /** Looks whether the lanes were changed. To be called every second. */
    look,
    /** The partitions of the submitted topics; undefined while the layout is not known yet. */
    places: current,
    /** A name for the partition that a batch goes to. */
    placeOf: (type: string, batch: OutgoingBatch): string => {
      const places = placesFor(batch)
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
