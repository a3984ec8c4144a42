import { randomBytes } from 'node:crypto'
import type { Connection } from '#platform/postgres/postgres.js'
import { type Database, firstRow, rowsOf } from '#platform/postgres/rows.js'
import type { WebhookEvent } from '#schemas/endpoints/downstream/webhooks.js'
import { type Doer, noteAudit } from '../audit.js'

// delivery.webhooks: where organisations want to be told of what happens.

export type Webhook = {
  webhook_id: string
  org: string
  url: string
  events: WebhookEvent[]
  created_at: Date
  disabled_at: Date | null
  disabled_reason: string | null
  /** Since when what comes next could not be delivered; null where the last attempt went well. */
  failing_since: Date | null
  /** The longest that anything waits to be delivered. */
  waiting_since: Date | null
}

const columns = `w.webhook_id, w.org_id as org, w.url, w.events, w.created_at, w.disabled_at, w.disabled_reason,
  p.failing_since, p.waiting_since`
const withPending = `left join lateral (
      select min(d.first_tried_at) filter (where d.attempts > 0) as failing_since, min(d.created_at) as waiting_since
      from delivery.deliveries d
      where d.webhook_id = w.webhook_id and d.state = 'pending'
    ) p on true`

/** The webhooks of an organisation, or with null of all; or one of them. */
export const listWebhooks = (db: Database, org: string | null, webhookId?: string): Promise<Webhook[]> =>
  rowsOf(
    db,
    `select ${columns}
    from delivery.webhooks w
    ${withPending}
    where ($1::text is null or w.org_id = $1) and ($2::uuid is null or w.webhook_id = $2)
    order by w.org_id, w.created_at, w.webhook_id`,
    [org, webhookId ?? null],
  )

export const findWebhook = async (db: Database, org: string, webhookId: string): Promise<Webhook | undefined> =>
  (await listWebhooks(db, org, webhookId))[0]

export type NewWebhook = { org: string; url: string; events: readonly WebhookEvent[]; readTo: string }

const newSecret = (): string => `whsec_${randomBytes(24).toString('base64')}`

/** A new webhook, told of what is decided from a place in the log on; undefined where the organisation has as many as it may have. */
export const addWebhook = async (
  connection: Connection,
  { org, url, events, readTo }: NewWebhook,
  most: number,
  by: Doer,
): Promise<{ webhook_id: string; secret: string } | undefined> => {
  // Who else adds one at the same time waits for this transaction.
  await connection.query('select from auth.organisations where org_id = $1 for update', [org])
  const made = await firstRow<{ webhook_id: string; secret: string }>(
    connection,
    `insert into delivery.webhooks (org_id, url, events, secret)
    select $1, $2, $3, $4 where (select count(*) from delivery.webhooks where org_id = $1) < $5
    returning webhook_id, secret`,
    [org, url, events, newSecret(), most],
  )
  if (!made) return undefined
  await addQueues(connection, { webhookId: made.webhook_id, org, queues: [...events, byHand], readTo })
  await noteAudit(connection, by, {
    org,
    action: 'webhook_created',
    subject: made.webhook_id,
    details: { url, events },
  })
  return made
}

/** The queue of what people ask for by hand. */
export const byHand = 'extra'

const addQueues = (
  connection: Connection,
  given: { webhookId: string; org: string; queues: readonly string[]; readTo: string },
) =>
  connection.query(
    `insert into delivery.queues (webhook_id, queue, org_id, read_to)
    select $1, queue, $2, $3 from unnest($4::text[]) as queue
    on conflict do nothing`,
    [given.webhookId, given.org, given.readTo, given.queues],
  )

export type WebhookChange = {
  url?: string | undefined
  events?: readonly WebhookEvent[] | undefined
  enabled?: boolean | undefined
}

/**
 * Changes a webhook that is there. An event that is added is told of from `readTo` on; of one that is taken off, what is pending is given up.
 * One that is enabled goes on where it stopped, at once.
 */
export const changeWebhook = async (
  connection: Connection,
  { org, webhookId, readTo }: { org: string; webhookId: string; readTo: string },
  { url, events, enabled }: WebhookChange,
  by: Doer,
): Promise<Webhook | undefined> => {
  const changed = await firstRow(
    connection,
    `update delivery.webhooks
    set url = coalesce($3, url), events = coalesce($4, events),
      disabled_at = case when $5::boolean then null when not $5 then coalesce(disabled_at, now()) else disabled_at end,
      disabled_reason = case when $5 then null when not $5 then coalesce(disabled_reason, 'it was disabled by hand') else disabled_reason end
    where org_id = $1 and webhook_id = $2
    returning webhook_id`,
    [org, webhookId, url ?? null, events ?? null, enabled ?? null],
  )
  if (!changed) return undefined
  if (events) {
    await addQueues(connection, { webhookId, org, queues: events, readTo })
    await connection.query('delete from delivery.queues where webhook_id = $1 and queue <> all ($2::text[])', [
      webhookId,
      [...events, byHand],
    ])
    await connection.query(
      `update delivery.deliveries d set state = 'failed', ended_at = now()
      where webhook_id = $1 and state = 'pending'
        and not exists (select from delivery.queues q where q.webhook_id = d.webhook_id and q.queue = d.queue)`,
      [webhookId],
    )
  }
  // Another address, or one that was mended: there is no reason to wait.
  if (url !== undefined || enabled) await beginAnew(connection, webhookId)
  const details = {
    ...(url !== undefined && { url }),
    ...(events && { events }),
    ...(enabled !== undefined && { enabled }),
  }
  await noteAudit(connection, by, { org, action: 'webhook_changed', subject: webhookId, details })
  return findWebhook(connection, org, webhookId)
}

const beginAnew = async (connection: Connection, webhookId: string): Promise<void> => {
  await connection.query(
    `update delivery.deliveries set first_tried_at = null where webhook_id = $1 and state = 'pending'`,
    [webhookId],
  )
  await connection.query(
    'update delivery.queues set due_at = now(), tries = 0, woken = woken + 1 where webhook_id = $1',
    [webhookId],
  )
}

/** Whether there was one. What was pending is given up with it. */
export const dropWebhook = async (
  connection: Connection,
  org: string,
  webhookId: string,
  by: Doer,
): Promise<boolean> => {
  const dropped = await firstRow<{ url: string }>(
    connection,
    'delete from delivery.webhooks where org_id = $1 and webhook_id = $2 returning url',
    [org, webhookId],
  )
  if (dropped) await noteAudit(connection, by, { org, action: 'webhook_deleted', subject: webhookId, details: dropped })
  return dropped !== undefined
}

/** A new secret; for `graceSeconds` deliveries are signed with the one before, too. */
export const rotateSecret = async (
  connection: Connection,
  { org, webhookId, graceSeconds }: { org: string; webhookId: string; graceSeconds: number },
  by: Doer,
): Promise<{ secret: string; former_until: Date } | undefined> => {
  const rotated = await firstRow<{ secret: string; former_until: Date }>(
    connection,
    `update delivery.webhooks
    set former_secret = secret, former_until = now() + make_interval(secs => $3), secret = $4
    where org_id = $1 and webhook_id = $2
    returning secret, former_until`,
    [org, webhookId, graceSeconds, newSecret()],
  )
  const details = { former_until: rotated?.former_until }
  if (rotated) await noteAudit(connection, by, { org, action: 'webhook_secret_rotated', subject: webhookId, details })
  return rotated
}

/** Nothing is delivered to it any more, until somebody enables it; false where that was so already. */
export const disableWebhook = async (
  connection: Connection,
  { org, webhookId, reason }: { org: string; webhookId: string; reason: string },
  by: Doer,
): Promise<boolean> => {
  const disabled = await firstRow(
    connection,
    `update delivery.webhooks set disabled_at = now(), disabled_reason = $2
    where webhook_id = $1 and disabled_at is null
    returning webhook_id`,
    [webhookId, reason],
  )
  if (disabled)
    await noteAudit(connection, by, { org, action: 'webhook_disabled', subject: webhookId, details: { reason } })
  return disabled !== undefined
}

/** How many webhooks there are, and how many of them are disabled or fail at this moment. */
export const countWebhooks = async (db: Database): Promise<Record<'enabled' | 'failing' | 'disabled', number>> =>
  (await firstRow(
    db,
    `select count(*) filter (where disabled_at is null) as enabled, count(*) filter (where disabled_at is not null) as disabled,
      count(*) filter (where disabled_at is null and exists (
        select from delivery.queues q where q.webhook_id = w.webhook_id and q.tries > 0
      )) as failing
    from delivery.webhooks w`,
  )) ?? { enabled: 0, failing: 0, disabled: 0 }
