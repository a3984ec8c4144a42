import { randomUUID } from 'node:crypto'
import type { Log } from '#platform/health/log.js'
import type { Consumer, Kafka } from '#platform/kafka/kafka.js'
import type { Crash } from '#platform/process/lifecycle.js'
import type { Registry } from '#platform/registry.js'
import { verdictSchema } from '#schemas/derive/avro.js'
import { subjectOf, verdictsTopic } from '#schemas/derive/names.js'
import type { VerdictEvent } from '#schemas/events.js'
import type { VerdictStore } from '../requests/verdict-store.js'

/** The verdict that one batch waits for; undefined once the edge has given up on it. */
export type Expected = { verdict: Promise<VerdictEvent | undefined>; abandon: () => void }

export type Verdicts = {
  /** To be called before the batch is published: its verdict may be back before the publishing call returns. */
  expect: (batchId: string) => Expected
  /** Hands a verdict to every request that waits for it. */
  settle: (verdict: VerdictEvent) => void
  /** Gives up on verdicts that did not come in time, and looks in Postgres for those that the topic did not bring. */
  tick: () => Promise<void>
  /** From this moment on no verdict is waited for: an edge that stops answers its open requests before it is gone. */
  giveUpAt: (time: number) => void
  /** How many verdicts are being waited for. */
  waiting: () => number
}

type Waiter = { batchId: string; since: number; resolve: (verdict: VerdictEvent | undefined) => void }

// Verdicts usually come well within this time. While Kafka's consumer group rebalances they do not come at all, and a
// client should not have to wait until that is over.
const askAfter = 1_000

export const createVerdicts = (deps: {
  store: Pick<VerdictStore, 'ofBatches'>
  timeout: number
  now: () => number
  log: Log
}): Verdicts => {
  const { store, timeout, now, log } = deps
  // A set for each batch: two requests with one Idempotency-Key wait for the same batches.
  const waiters = new Map<string, Set<Waiter>>()
  let end = Number.POSITIVE_INFINITY
  let asking = false
  let lastAsked = 0

  const remove = (waiter: Waiter, verdict: VerdictEvent | undefined): void => {
    const same = waiters.get(waiter.batchId)
    same?.delete(waiter)
    if (same?.size === 0) waiters.delete(waiter.batchId)
    waiter.resolve(verdict)
  }

  const settle = (verdict: VerdictEvent): void => {
    for (const waiter of waiters.get(verdict.batch_id) ?? []) remove(waiter, verdict)
  }

  const waitedFor = (ms: number): Waiter[] => {
    const before = now() - ms
    return [...waiters.values()].flatMap((same) => [...same].filter((waiter) => waiter.since <= before))
  }

  const ask = async (): Promise<void> => {
    const overdue = new Set(waitedFor(askAfter).map((waiter) => waiter.batchId))
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
    expect: (batchId) => {
      const { promise, resolve } = withResolvers<VerdictEvent | undefined>()
      const waiter: Waiter = { batchId, since: now(), resolve }
      const same = waiters.get(batchId) ?? new Set()
      waiters.set(batchId, same.add(waiter))
      return { verdict: promise, abandon: () => remove(waiter, undefined) }
    },
    settle,
    tick: async () => {
      for (const waiter of waitedFor(now() < end ? timeout : 0)) remove(waiter, undefined)
      await ask()
    },
    giveUpAt: (time) => {
      end = time
    },
    waiting: () => [...waiters.values()].reduce((sum, same) => sum + same.size, 0),
  }
}

// Promise.withResolvers came with Node 22.
const withResolvers = <T>(): { promise: Promise<T>; resolve: (value: T) => void } => {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>((settled) => {
    resolve = settled
  })
  return { promise, resolve }
}

/**
 * Reads the verdicts topic from its end on. Each edge has a consumer group of its own, so that every edge gets every
 * verdict; one that it misses it finds in Postgres.
 */
export const followVerdicts = async (deps: {
  kafka: Kafka
  registry: Registry
  settle: (verdict: VerdictEvent) => void
  crash: Crash
  log: Log
}): Promise<Consumer> => {
  await deps.registry.prepare(subjectOf(verdictsTopic), verdictSchema())
  const decode = deps.registry.decoder<VerdictEvent>(verdictSchema())
  return deps.kafka.consume({
    groupId: `weir-edge-${randomUUID()}`,
    topics: [verdictsTopic],
    fromBeginning: false,
    commits: false,
    crash: deps.crash,
    onFetch: async ({ messages }) => {
      for (const { offset, value } of messages) {
        try {
          deps.settle(await decode(value))
        } catch (error) {
          // Not worth stopping for: the request that waits for this verdict gets it from Postgres.
          deps.log.warn({ err: error, offset }, 'verdict could not be read')
        }
      }
    },
  })
}
