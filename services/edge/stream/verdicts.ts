import { randomUUID } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Log } from '#platform/health/log.js'
import type { Consumer, Kafka } from '#platform/kafka/kafka.js'
import type { Crash } from '#platform/process/lifecycle.js'
import type { Registry } from '#platform/registry.js'
import { verdictSchema } from '#schemas/derive/avro.js'
import { edgeGroups, subjectOf, verdictsTopic } from '#schemas/derive/names.js'
import { type BatchParts, recordsIn, type SubmittedBatch, type VerdictEvent } from '#schemas/events.js'
import type { VerdictStore } from '../requests/verdict-store.js'
import { createQueuePace, type QueuePace } from './queue-pace.js'

/** The verdict that one batch waits for; undefined once the edge has given up on it. */
export type Expected = {
  verdict: Promise<VerdictEvent | undefined>
  /** The request no longer waits for it, but it will come: Kafka has the batch. */
  leave: () => void
  /** It will not come: Kafka is not known to have the batch. */
  abandon: () => void
}

export type Verdicts = {
  /**
   * To be called before the batch is published. `place` names the partition that it goes to. `uncount`: it is decided, or never will
   * be, or not soon, so that it no longer counts as work in flight; may be called twice.
   */
  expect: (
    batch: Pick<SubmittedBatch, 'batch_id' | 'org_id'> & BatchParts,
    place: string,
    uncount?: () => void,
  ) => Expected
  /** Hands a verdict to every request that waits for it. */
  settle: (verdict: VerdictEvent) => void
  /** Gives up on verdicts that did not come in time, and looks in Postgres for those that the topic did not bring. */
  tick: () => Promise<void>
  /** From this moment on no verdict is waited for: an edge that stops answers its open requests before it is gone. */
  giveUpAt: (time: number) => void
  /** How many verdicts are being waited for. */
  waiting: () => number
  /** Milliseconds that the oldest batch of all has been without a verdict, its request answered or not; 0 where none is. */
  oldest: () => number
  /** Milliseconds that the oldest batch of a place has been without a verdict, its request answered or not; 0 where none is. */
  lagAt: (place: string) => number
  /** The same of one organisation's batches. */
  lagOf: (place: string, orgId: string) => number
  /** How many milliseconds a batch that came now would wait, by what is in front of it and how fast that was decided so far. */
  expectedLagOf: (place: string, orgId: string) => number
}

type Waiter = {
  batchId: string
  place: string
  /** The batches of one place and organisation, which are decided one after another. */
  queue: string
  pace: QueuePace
  records: number
  since: number
  /** Whether its request no longer waits. */
  isLeft: boolean
  uncount: () => void
  resolve: (verdict: VerdictEvent | undefined) => void
}

// Verdicts usually come well within this time; while Kafka's consumer group rebalances they do not come at all.
const askAfter = 1_000
// In one question. Those that somebody waits for come first.
const mostAsked = 1_000
// While batches are decided this soon, how many are in front says nothing: with little to do, little is decided in a second.
export const soon = 1_000
// Undecided for this long, a batch is behind something that hardly moves, which may be one partition. What is sent there is judged by
// its lag; all else must have room in flight.
const countedFor = 3_000
// Queues whose pace is known. A queue whose pace is forgotten is judged by its oldest batch alone.
const mostPaces = 10_000
// A batch that has no verdict by then may never get one: somebody emptied the topic, or it could not be read.
const forgetAfter = 10 * 60_000

export const createVerdicts = (deps: {
  store: Pick<VerdictStore, 'ofBatches'>
  timeout: number
  now: () => number
  log: Log
}): Verdicts => {
  const { store, timeout, now, log } = deps
  // A set for each batch: two requests with one Idempotency-Key wait for the same batches.
  const waiters = new Map<string, Set<Waiter>>()
  /** The same by queue and by place, the oldest first. */
  const queues = new Map<string, Set<Waiter>>()
  const places = new Map<string, Set<Waiter>>()
  const paces = new LRUCache<string, QueuePace>({ max: mostPaces })
  let end = Number.POSITIVE_INFINITY
  let asking = false
  let lastAsked = 0

  const remove = (waiter: Waiter, verdict: VerdictEvent | undefined): void => {
    if (!removeFrom(waiters, waiter.batchId, waiter)) return
    removeFrom(queues, waiter.queue, waiter)
    removeFrom(places, waiter.place, waiter)
    waiter.pace.leave(waiter.records, verdict !== undefined)
    waiter.uncount()
    waiter.resolve(verdict)
  }

  const leave = (waiter: Waiter): void => {
    waiter.isLeft = true
    waiter.resolve(undefined)
  }

  const settle = (verdict: VerdictEvent): void => {
    for (const waiter of waiters.get(verdict.batch_id) ?? []) remove(waiter, verdict)
  }

  const paceOf = (queue: string): QueuePace => {
    const known = paces.get(queue)
    if (known) return known
    const pace = createQueuePace(now)
    paces.set(queue, pace)
    return pace
  }

  const ageOfOldest = ([oldest]: Iterable<Waiter> = []): number => (oldest ? now() - oldest.since : 0)
  const lagOf = (queue: string): number => ageOfOldest(queues.get(queue))

  const waitedFor = (ms: number): Waiter[] => {
    const before = now() - ms
    return [...waiters.values()].flatMap((same) => [...same].filter((waiter) => waiter.since <= before))
  }

  const ask = async (): Promise<void> => {
    const all = waitedFor(askAfter)
    const inOrder = [...all.filter(({ isLeft }) => !isLeft), ...all.filter(({ isLeft }) => isLeft)]
    const overdue = new Set(inOrder.slice(0, mostAsked).map((waiter) => waiter.batchId))
    if (overdue.size === 0 || asking || now() - lastAsked < askAfter) return
    asking = true
    lastAsked = now()
    try {
      for (const verdict of await store.ofBatches([...overdue])) settle(verdict)
    } catch (error) {
      log.warn({ err: error, batches: overdue.size }, 'could not look for overdue verdicts')
    } finally {
      asking = false
    }
  }

  return {
    expect: (batch, place, uncount = () => {}) => {
      const { promise, resolve } = withResolvers<VerdictEvent | undefined>()
      const { batch_id: batchId } = batch
      const queue = queueOf(place, batch.org_id)
      const pace = paceOf(queue)
      const records = recordsIn(batch)
      const waiter: Waiter = { batchId, place, queue, pace, records, since: now(), isLeft: false, uncount, resolve }
      addTo(waiters, batchId, waiter)
      addTo(queues, queue, waiter)
      addTo(places, place, waiter)
      pace.join(records)
      return { verdict: promise, leave: () => leave(waiter), abandon: () => remove(waiter, undefined) }
    },
    settle,
    tick: async () => {
      for (const waiter of waitedFor(now() < end ? timeout : 0)) leave(waiter)
      for (const waiter of waitedFor(countedFor)) waiter.uncount()
      for (const waiter of waitedFor(forgetAfter)) remove(waiter, undefined)
      await ask()
    },
    giveUpAt: (time) => {
      end = time
    },
    waiting: () => waitedFor(0).filter(({ isLeft }) => !isLeft).length,
    oldest: () => Math.max(0, ...[...places.values()].map((waiting) => ageOfOldest(waiting))),
    lagAt: (place) => ageOfOldest(places.get(place)),
    lagOf: (place, orgId) => lagOf(queueOf(place, orgId)),
    expectedLagOf: (place, orgId) => {
      const queue = queueOf(place, orgId)
      const lag = lagOf(queue)
      return lag < soon ? lag : Math.max(lag, paces.get(queue)?.expectedWait() ?? 0)
    },
  }
}

const queueOf = (place: string, orgId: string): string => `${place}/${orgId}`

const addTo = (sets: Map<string, Set<Waiter>>, name: string, waiter: Waiter): void => {
  sets.set(name, (sets.get(name) ?? new Set()).add(waiter))
}

/** Whether it was there. */
const removeFrom = (sets: Map<string, Set<Waiter>>, name: string, waiter: Waiter): boolean => {
  const same = sets.get(name)
  const wasThere = same?.delete(waiter) ?? false
  if (same?.size === 0) sets.delete(name)
  return wasThere
}

// Promise.withResolvers came with Node 22.
const withResolvers = <T>(): { promise: Promise<T>; resolve: (value: T) => void } => {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>((settled) => {
    resolve = settled
  })
  return { promise, resolve }
}

/** Reads the verdicts topic from its end, in a group of its own for each edge; missed verdicts are found in Postgres. */
export const followVerdicts = async (deps: {
  kafka: Kafka
  registry: Registry
  onVerdict: (verdict: VerdictEvent) => void
  crash: Crash
  log: Log
}): Promise<Consumer> => {
  await deps.registry.prepare(subjectOf(verdictsTopic), verdictSchema())
  const decode = deps.registry.decoder<VerdictEvent>(verdictSchema())
  return deps.kafka.consume({
    groupId: `${edgeGroups}${randomUUID()}`,
    topics: [verdictsTopic],
    fromBeginning: false,
    commits: false,
    crash: deps.crash,
    onFetch: async ({ messages }) => {
      for (const { offset, value } of messages) {
        try {
          deps.onVerdict(await decode(value))
        } catch (error) {
          // Not worth stopping for: the request that waits for this verdict gets it from Postgres.
          deps.log.warn({ err: error, offset }, 'verdict could not be read')
        }
      }
    },
  })
}
