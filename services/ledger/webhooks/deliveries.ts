import { randomUUID } from 'node:crypto'
import type { Connection, Pool } from '#platform/postgres/postgres.js'
import { changedBy, type Database, firstRow, rowsOf } from '#platform/postgres/rows.js'
import type { WebhookEvent } from '#schemas/endpoints/downstream/webhooks.js'
import { derivedId } from '#schemas/uuid.js'
import { byHand } from './webhooks.js'

// delivery.deliveries: what was, or is to be, delivered. Each is stored before it is first sent.

export type DeliveredEvent = WebhookEvent | 'test'
export type DeliveryState = 'pending' | 'delivered' | 'failed'
/** An attempt: what was answered, or why nothing was. */
export type Tried = { at: string; ms: number; status: number | null; answer?: string; problem?: string }

/** What is to be delivered: as a body, and where it can be made again, from where to where in the log. */
export type Draft = {
  id: string
  event: DeliveredEvent
  records: number | null
  body: string
  from?: string
  to?: string
}

export const insertDeliveries = async (
  db: Database,
  { webhookId, queue }: { webhookId: string; queue: string },
  drafts: readonly Draft[],
): Promise<void> => {
  if (drafts.length === 0) return
  await db.query({
    name: 'insert-deliveries',
    text: `
      insert into delivery.deliveries (delivery_id, webhook_id, queue, event, records, body, read_from, read_to)
      select d.id, $1, $2, d.event, d.records, d.body, d."from", d."to"
      from json_to_recordset($3) as d (id text, event text, records integer, body text, "from" text, "to" text)
      on conflict (delivery_id) do nothing`,
    values: [webhookId, queue, JSON.stringify(drafts)],
  })
}

export type PendingDelivery = {
  id: string
  event: DeliveredEvent
  createdAt: Date
  body: string | null
  records: number | null
  from: string | null
  to: string | null
  attempts: number
  tried: Tried[]
  firstTriedAt: Date | null
}

/** Of a queue, what is delivered next. */
export const findPending = (
  db: Database,
  { webhookId, queue }: { webhookId: string; queue: string },
): Promise<PendingDelivery | undefined> =>
  firstRow(db, {
    name: 'find-pending',
    text: `
      select delivery_id as id, event, created_at as "createdAt", body, records, read_from as "from", read_to as "to",
        attempts, tried, first_tried_at as "firstTriedAt"
      from delivery.deliveries
      where webhook_id = $1 and queue = $2 and state = 'pending'
      order by place
      limit 1`,
    values: [webhookId, queue],
  })

/** What came of an attempt. */
export const noteAttempt = (
  db: Database,
  id: string,
  { state, tried, keepsBody }: { state: DeliveryState; tried: readonly Tried[]; keepsBody: boolean },
): Promise<number> =>
  changedBy(db, {
    name: 'note-attempt',
    text: `
      update delivery.deliveries
      set state = $2, tried = $3, attempts = attempts + 1, first_tried_at = coalesce(first_tried_at, now()),
        ended_at = case when $2 = 'pending' then null else now() end, body = case when $4 then body end
      where delivery_id = $1 and state = 'pending'`,
    values: [id, state, JSON.stringify(tried), keepsBody],
  })

export type DeliveryRow = {
  delivery_id: string
  place: number
  event: DeliveredEvent
  state: DeliveryState
  records: number | null
  created_at: Date
  ended_at: Date | null
  attempts: number
  tried: Tried[]
}

export type DeliveryFilter = { state?: DeliveryState | undefined; before?: number | undefined; most: number }

/** The delivery log of a webhook, the newest first. */
export const listDeliveries = (
  db: Database,
  webhookId: string,
  { state, before, most }: DeliveryFilter,
): Promise<DeliveryRow[]> =>
  rowsOf(
    db,
    `select delivery_id, place, event, state, records, created_at, ended_at, attempts, tried
    from delivery.deliveries
    where webhook_id = $1 and ($2::text is null or state = $2) and ($3::bigint is null or place < $3)
    order by place desc
    limit $4`,
    [webhookId, state ?? null, before ?? null, most],
  )

/** Which deliveries are made again: one, or those of a stretch of time. */
export type Replayed = { deliveryId?: string | undefined; since?: Date | undefined; until?: Date | undefined }

/** Has deliveries that have ended made again, in their order and under their ids; resolves to how many. */
export const replayDeliveries = async (
  connection: Connection,
  webhookId: string,
  { deliveryId, since, until }: Replayed,
): Promise<number> => {
  const count = await changedBy(
    connection,
    `update delivery.deliveries
    set state = 'pending', queue = $5, ended_at = null, first_tried_at = null
    where webhook_id = $1 and state <> 'pending' and event <> 'test' and ($2::text is null or delivery_id = $2)
      and ($3::timestamptz is null or created_at >= $3) and ($4::timestamptz is null or created_at < $4)`,
    [webhookId, deliveryId ?? null, since ?? null, until ?? null, byHand],
  )
  await wakeByHand(connection, webhookId)
  return count
}

/** Adds a delivery that shows whether the receiver is there; resolves to its id. */
export const addTest = async (connection: Connection, org: string, webhookId: string): Promise<string> => {
  const id = `msg_${randomUUID()}`
  const data = { org, webhook_id: webhookId, message: 'a test: your receiver can be reached' }
  const body = JSON.stringify({ type: 'test', timestamp: new Date(), data })
  await insertDeliveries(connection, { webhookId, queue: byHand }, [{ id, event: 'test', records: null, body }])
  await wakeByHand(connection, webhookId)
  return id
}

/** Has the webhooks of an organisation told that a person was erased; those that are told of it already are not told again. */
export const addErased = async (
  connection: Connection,
  org: string,
  erasureId: string,
  body: string,
): Promise<void> => {
  const queues = await rowsOf<{ webhookId: string }>(
    connection,
    `update delivery.queues set due_at = now(), woken = woken + 1 where org_id = $1 and queue = 'person.erased'
    returning webhook_id as "webhookId"`,
    [org],
  )
  for (const { webhookId } of queues) {
    const id = `msg_${derivedId('person.erased', `${webhookId}/${erasureId}`)}`
    const draft = { id, event: 'person.erased' as const, records: null, body }
    await insertDeliveries(connection, { webhookId, queue: 'person.erased' }, [draft])
  }
}

const wakeByHand = (connection: Connection, webhookId: string) =>
  connection.query(
    'update delivery.queues set due_at = now(), woken = woken + 1, tries = 0 where webhook_id = $1 and queue = $2',
    [webhookId, byHand],
  )

/** Deletes at most `most` deliveries that ended so many days ago. */
export const pruneDeliveries = (pool: Pool, days: number, most: number): Promise<number> =>
  changedBy(pool, {
    name: 'prune-deliveries',
    text: `
      delete from delivery.deliveries
      where delivery_id in (
        select delivery_id from delivery.deliveries
        where state <> 'pending' and ended_at < now() - make_interval(days => $1)
        order by ended_at
        limit $2
        for update skip locked
      )`,
    values: [days, most],
  })

/** What is waited for: how many deliveries are pending, and how old the oldest is, in seconds. */
export const countPending = async (db: Database): Promise<{ pending: number; oldest: number }> =>
  (await firstRow(
    db,
    `select count(*) as pending, coalesce(extract(epoch from now() - min(d.created_at)), 0)::float8 as oldest
    from delivery.deliveries d
    join delivery.webhooks w using (webhook_id)
    where d.state = 'pending' and w.disabled_at is null`,
  )) ?? { pending: 0, oldest: 0 }
