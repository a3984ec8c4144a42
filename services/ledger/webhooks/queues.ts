import type { Pool } from '#platform/postgres/postgres.js'
import { changedBy, type Database, listsOf, rowsOf } from '#platform/postgres/rows.js'
import type { WebhookEvent } from '#schemas/endpoints/downstream/webhooks.js'
import type { byHand } from './webhooks.js'

// delivery.queues: what is delivered to a webhook one after another, and which delivery service works on it.

/** A queue that a delivery service works on, and how its deliveries are sent. */
export type HeldQueue = {
  webhookId: string
  queue: WebhookEvent | typeof byHand
  org: string
  readTo: string
  tries: number
  woken: number
  lease: string
  mayMakeNew: boolean
  url: string
  secret: string
  /** While a secret is rotated, the one before. */
  formerSecret: string | null
}

export type UnderWay = { org: string; count: number }

/**
 * Takes queues that are due, at most `most`, and of each organisation at most `mostOfOrg` together with those that it has under way already.
 * They are held for `leaseSeconds`: what a process that was killed held, another one takes up afterwards.
 */
export const claimQueues = (
  pool: Pool,
  asked: { lease: string; leaseSeconds: number; most: number; mostOfOrg: number; underWay: readonly UnderWay[] },
): Promise<HeldQueue[]> =>
  rowsOf(pool, {
    name: 'claim-queues',
    text: `
      with due as materialized (
        select q.webhook_id, q.queue, row_number() over (partition by q.org_id order by q.due_at) + coalesce(u.count, 0) as turn
        from delivery.queues q
        join delivery.webhooks w using (webhook_id)
        left join unnest($5::text[], $6::integer[]) as u (org_id, count) on u.org_id = q.org_id
        where q.due_at <= now() and (q.leased_until is null or q.leased_until < now()) and w.disabled_at is null
      ),
      taken as materialized (
        select q.webhook_id, q.queue
        from (select * from due where turn <= $4 order by turn limit $3) due
        join delivery.queues q using (webhook_id, queue)
        where q.due_at <= now() and (q.leased_until is null or q.leased_until < now())
        for update of q skip locked
      ),
      held as (
        update delivery.queues q
        set lease = $1, leased_until = now() + make_interval(secs => $2)
        from taken
        where q.webhook_id = taken.webhook_id and q.queue = taken.queue
        returning q.*
      )
      select h.webhook_id as "webhookId", h.queue, h.org_id as org, h.read_to as "readTo", h.tries, h.woken, h.lease,
        h.not_before <= now() as "mayMakeNew", w.url, w.secret,
        case when w.former_until > now() then w.former_secret end as "formerSecret"
      from held h
      join delivery.webhooks w using (webhook_id)`,
    values: [
      ...[asked.lease, asked.leaseSeconds, asked.most, asked.mostOfOrg],
      ...listsOf(asked.underWay, 'org', 'count'),
    ],
  })

/** How a piece of work on a queue ended: where it has read to, if it has, and when it is to be looked at next. */
export type Released = {
  readTo?: string | undefined
  tries: number
  dueInSeconds: number
  /** Nothing new is put together before that; as it was where nothing is said. */
  notBeforeInSeconds?: number | undefined
}

/** Gives a queue back. Where something was decided meanwhile it is due again at once, unless its receiver is failing. */
export const releaseQueue = (
  db: Database,
  { webhookId, queue, lease, woken }: Pick<HeldQueue, 'webhookId' | 'queue' | 'lease' | 'woken'>,
  { readTo, tries, dueInSeconds, notBeforeInSeconds }: Released,
): Promise<number> =>
  changedBy(db, {
    name: 'release-queue',
    text: `
      update delivery.queues
      set lease = null, leased_until = null, tries = $6::integer, read_to = coalesce($5, read_to),
        not_before = coalesce(now() + make_interval(secs => $8), not_before),
        due_at = case when woken <> $4 and $6::integer = 0
          then greatest(now(), not_before, now() + make_interval(secs => $8))
          else now() + make_interval(secs => $7)
        end
      where webhook_id = $1 and queue = $2 and lease = $3`,
    values: [webhookId, queue, lease, woken, readTo ?? null, tries, dueInSeconds, notBeforeInSeconds ?? null],
  })

/** Whether the queue is held by this lease still; from now on for as long again. */
export const keepQueue = async (
  db: Database,
  { webhookId, queue, lease }: Pick<HeldQueue, 'webhookId' | 'queue' | 'lease'>,
  leaseSeconds: number,
  readTo?: string,
): Promise<boolean> =>
  (await changedBy(db, {
    name: 'keep-queue',
    text: `
      update delivery.queues
      set leased_until = now() + make_interval(secs => $4), read_to = coalesce($5, read_to)
      where webhook_id = $1 and queue = $2 and lease = $3`,
    values: [webhookId, queue, lease, leaseSeconds, readTo ?? null],
  })) === 1

/** Has the queues of these organisations looked at, since something was decided for them; with null those of all. */
export const wakeQueues = (db: Database, orgs: readonly string[] | null): Promise<number> =>
  changedBy(db, {
    name: 'wake-queues',
    // In order: two services that wake the same ones wait for each other, and not in a circle.
    text: `
      update delivery.queues q
      set woken = woken + 1,
        due_at = case when tries = 0 then least(due_at, greatest(now(), not_before)) else due_at end
      from (
        select webhook_id, queue
        from delivery.queues
        where ($1::text[] is null or org_id = any ($1)) and queue <> 'extra'
        order by webhook_id, queue
        for update
      ) held
      where q.webhook_id = held.webhook_id and q.queue = held.queue`,
    values: [orgs],
  })
