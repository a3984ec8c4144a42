import { randomUUID } from 'node:crypto'
import {
  type DeliveryState,
  findPending,
  insertDeliveries,
  noteAttempt,
  type PendingDelivery,
  type Tried,
} from '#ledger/webhooks/deliveries.js'
import {
  claimQueues,
  type HeldQueue,
  keepQueue,
  type Released,
  releaseQueue,
  type UnderWay,
} from '#ledger/webhooks/queues.js'
import { byHand, disableWebhook } from '#ledger/webhooks/webhooks.js'
import type { Log } from '#platform/health/log.js'
import type { Post, Posted } from '#platform/outgoing/post.js'
import { inTransaction, type Pool } from '#platform/postgres/postgres.js'
import type { DeliveryFigures } from './figures.js'
import type { MadeNext, QueueToRead, ReadEvent } from './next.js'
import { signedHeaders } from './sign.js'

export type WorkDeps = {
  pool: Pool
  post: Post
  /** What comes next of an event. */
  makeNext: (event: ReadEvent, queue: QueueToRead) => Promise<MadeNext>
  /** The body of a delivery again; undefined where that can no longer be made. */
  again: (org: string, from: string, to: string, at: Date) => Promise<string | undefined>
  giveUpAfterMs: number
  digestEverySeconds: number
  figures: DeliveryFigures
  log: Log
  pace?: typeof usualPace
}

/** In seconds. A cursor that nobody moves for long falls behind what is pruned, so a queue is looked at once an hour anyway. */
export const usualPace = { lease: 25, workFor: 10, idle: 3600, firstRetry: 2, longestRetry: 3600, afterFailure: 5 }
const mostTried = 10

/** By whom a webhook is disabled whose receiver stays away. */
const itself = { actor: 'weir delivery' }

/**
 * Delivers what is next of the queues that it takes, one delivery after another. A delivery is stored, together with the place that was read
 * up to, before it is first sent: so none is lost, and one that is sent again, since a process was killed, has the same id.
 */
export const createWork = (deps: WorkDeps) => {
  const { pool, figures, log, pace = usualPace } = deps

  /** One attempt, and what it means for the queue: undefined where it may go on at once. */
  const attempt = async (
    queue: HeldQueue,
    delivery: PendingDelivery,
    signal: AbortSignal,
  ): Promise<Released | undefined> => {
    const body =
      delivery.body ?? (await deps.again(queue.org, delivery.from ?? '', delivery.to ?? '', delivery.createdAt))
    if (body === undefined) {
      const tried = [...delivery.tried, toTried({ status: null, ms: 0, problem: 'what was in it is no longer kept' })]
      await noteAttempt(pool, delivery.id, { state: 'failed', tried: tried.slice(-mostTried), keepsBody: false })
      return undefined
    }
    const secrets = [queue.secret, ...(queue.formerSecret === null ? [] : [queue.formerSecret])]
    const posted = await deps.post(queue.url, signedHeaders(delivery.id, body, secrets, Date.now()), body, signal)
    // The attempt was cut off by a stop of this service: it says nothing about the receiver.
    if (signal.aborted && posted.status === null) return { tries: queue.tries, dueInSeconds: 0 }
    const isDelivered = posted.status !== null && posted.status >= 200 && posted.status < 300
    const isOver = isDelivered || delivery.event === 'test'
    const state: DeliveryState = isDelivered ? 'delivered' : isOver ? 'failed' : 'pending'
    figures.attempted(delivery.event, isDelivered, posted.ms / 1000)
    if (isDelivered) figures.delivered(delivery.event, Date.now() - delivery.createdAt.getTime())
    const tried = [...delivery.tried, toTried(posted)].slice(-mostTried)
    const keepsBody = state === 'pending' || delivery.to === null
    await noteAttempt(pool, delivery.id, { state, tried, keepsBody })
    if (isOver) {
      queue.tries = 0
      return undefined
    }
    const tries = queue.tries + 1
    const failingFor = Date.now() - (delivery.firstTriedAt?.getTime() ?? Date.now())
    const reason = whyDisabled(posted, failingFor, deps.giveUpAfterMs)
    if (reason !== undefined) await disable(queue, reason)
    return { tries, dueInSeconds: pauseAfter(tries, posted, pace) }
  }

  const disable = async ({ org, webhookId }: HeldQueue, reason: string): Promise<void> => {
    const disabled = await inTransaction(pool, (connection) =>
      disableWebhook(connection, { org, webhookId, reason }, itself),
    )
    if (disabled) log.warn({ org, webhook: webhookId, reason }, 'webhook disabled')
  }

  /** What comes next, stored; how the queue is left where there is nothing. */
  const makeNext = async (queue: HeldQueue): Promise<Released | undefined> => {
    const idle = { tries: 0, dueInSeconds: pace.idle * (0.9 + 0.2 * Math.random()) }
    // What is in these is put there when it is asked for, or happens.
    if (queue.queue === byHand || queue.queue === 'person.erased') return idle
    if (!queue.mayMakeNew) return { tries: 0, dueInSeconds: deps.digestEverySeconds }
    const { drafts, readTo, isEnd } = await deps.makeNext(queue.queue, queue)
    if (drafts.length === 0 && isEnd) return { ...idle, readTo }
    await inTransaction(pool, async (connection) => {
      // Whoever holds the queue by now has read on from the place before.
      if (!(await keepQueue(connection, queue, pace.lease, readTo))) throw new LostLease()
      await insertDeliveries(connection, queue, drafts)
    })
    queue.readTo = readTo
    if (queue.queue === 'rejections.digest' && drafts.length > 0) queue.mayMakeNew = false
    return undefined
  }

  const workOn = async (queue: HeldQueue, signal: AbortSignal): Promise<void> => {
    const until = performance.now() + pace.workFor * 1000
    const isDigest = queue.queue === 'rejections.digest'
    const mayMakeNewAtFirst = queue.mayMakeNew
    let released: Released | undefined
    try {
      while (released === undefined && performance.now() < until && !signal.aborted) {
        const delivery = await findPending(pool, queue)
        if (delivery === undefined) released = await makeNext(queue)
        // An attempt takes up to 15 s: it begins only with a lease that outlives it.
        else if (!(await keepQueue(pool, queue, pace.lease))) throw new LostLease()
        else released = await attempt(queue, delivery, signal)
      }
    } catch (error) {
      if (error instanceof LostLease) return
      log.warn(
        { err: error, webhook: queue.webhookId, queue: queue.queue },
        'a webhook could not be worked on, is tried again',
      )
      released = { tries: queue.tries, dueInSeconds: pace.afterFailure }
    }
    const hasMadeDigest = isDigest && mayMakeNewAtFirst && !queue.mayMakeNew
    await releaseQueue(pool, queue, {
      ...(released ?? { tries: queue.tries, dueInSeconds: 0 }),
      ...(hasMadeDigest && { notBeforeInSeconds: deps.digestEverySeconds }),
    })
  }

  return {
    claim: (most: number, mostOfOrg: number, underWay: readonly UnderWay[]): Promise<HeldQueue[]> =>
      claimQueues(pool, { lease: randomUUID(), leaseSeconds: pace.lease, most, mostOfOrg, underWay }),
    workOn,
  }
}

class LostLease extends Error {}

const toTried = (posted: Posted | { status: null; ms: number; problem: string }): Tried => ({
  at: new Date().toISOString(),
  ms: posted.ms,
  status: posted.status,
  ...('problem' in posted ? { problem: posted.problem } : { answer: posted.answer }),
})

/** How long until the next attempt: twice as long each time, never quite the same for two, and no earlier than the receiver asks for. */
const pauseAfter = (tries: number, posted: Posted, { firstRetry, longestRetry }: typeof usualPace): number => {
  const pause = Math.min(longestRetry, firstRetry * 2 ** Math.min(20, tries - 1)) * (0.8 + 0.4 * Math.random())
  const asked = posted.status === null ? 0 : (posted.retryAfter ?? 0)
  return Math.max(pause, Math.min(asked, longestRetry))
}

const whyDisabled = (posted: Posted, failingFor: number, giveUpAfterMs: number): string | undefined => {
  if (posted.status === 410) return 'the receiver answered 410 Gone'
  if (failingFor < giveUpAfterMs) return undefined
  const last = posted.status === null ? posted.problem : `it answered ${posted.status}`
  return `the receiver has not taken a delivery for ${Math.round(failingFor / 3_600_000)} hours; at last: ${last}`
}
