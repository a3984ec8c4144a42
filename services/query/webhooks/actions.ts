import { writeCursor } from '#feeds/cursor.js'
import type { FeedSource } from '#feeds/feed.js'
import type { Doer } from '#ledger/audit.js'
import * as deliveries from '#ledger/webhooks/deliveries.js'
import * as webhooks from '#ledger/webhooks/webhooks.js'
import { type Reach, whyNotTo } from '#platform/outgoing/addresses.js'
import { inTransaction, type Pool } from '#platform/postgres/postgres.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { mostWebhooks, type WebhookEvent } from '#schemas/endpoints/downstream/webhooks.js'

/** What can be done with webhooks; each thing is noted in the audit. */
export type WebhookActions = ReturnType<typeof createWebhookActions>

export const createWebhookActions = (deps: {
  pool: Pool
  feed: Pick<FeedSource, 'begin'>
  catalogue: Catalogue
  reach: Reach
}) => {
  const { pool, reach } = deps
  const types = [...deps.catalogue.all.values()]
  /** From now on. */
  const begin = async (org: string): Promise<string> => writeCursor(org, await deps.feed.begin(org, types, 'now'))

  return {
    whyNotTo: (url: string) => whyNotTo(url, reach),
    list: (org: string) => webhooks.listWebhooks(pool, org),
    find: (org: string, webhookId: string) => webhooks.findWebhook(pool, org, webhookId),
    create: async (given: { org: string; url: string; events: readonly WebhookEvent[] }, by: Doer) => {
      const readTo = await begin(given.org)
      return inTransaction(pool, (connection) =>
        webhooks.addWebhook(connection, { ...given, readTo }, mostWebhooks, by),
      )
    },
    change: async (org: string, webhookId: string, change: webhooks.WebhookChange, by: Doer) => {
      const readTo = await begin(org)
      return inTransaction(pool, (connection) =>
        webhooks.changeWebhook(connection, { org, webhookId, readTo }, change, by),
      )
    },
    drop: (org: string, webhookId: string, by: Doer) =>
      inTransaction(pool, (connection) => webhooks.dropWebhook(connection, org, webhookId, by)),
    rotate: (org: string, webhookId: string, graceSeconds: number, by: Doer) =>
      inTransaction(pool, (connection) => webhooks.rotateSecret(connection, { org, webhookId, graceSeconds }, by)),
    test: (org: string, webhookId: string): Promise<string> =>
      inTransaction(pool, (connection) => deliveries.addTest(connection, org, webhookId)),
    deliveries: (webhookId: string, filter: deliveries.DeliveryFilter) =>
      deliveries.listDeliveries(pool, webhookId, filter),
    replay: (webhookId: string, which: deliveries.Replayed) =>
      inTransaction(pool, (connection) => deliveries.replayDeliveries(connection, webhookId, which)),
  }
}
