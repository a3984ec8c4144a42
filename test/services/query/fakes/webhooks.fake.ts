import { randomUUID } from 'node:crypto'
import type { Webhook } from '#ledger/webhooks/webhooks.js'
import type { WebhookActions } from '../../../../services/query/webhooks/actions.js'

/** Webhooks in memory, to which nothing is ever delivered. */
export const createFakeWebhooks = (): WebhookActions => {
  const all = new Map<string, Webhook>()
  const find = async (org: string, id: string) => [all.get(id)].find((webhook) => webhook?.org === org)
  return {
    whyNotTo: async (url) => (url.includes('127.0.0.1') ? 'url leads nowhere that is public' : undefined),
    list: async (org) => [...all.values()].filter((webhook) => webhook.org === org),
    find,
    create: async ({ org, url, events }) => {
      const webhook_id = randomUUID()
      const never = { disabled_at: null, disabled_reason: null, failing_since: null, waiting_since: null }
      all.set(webhook_id, { webhook_id, org, url, events: [...events], created_at: new Date(), ...never })
      return { webhook_id, secret: 'whsec_c2VjcmV0' }
    },
    change: async (org, id, { url, enabled }) => {
      const webhook = await find(org, id)
      if (webhook && url !== undefined) webhook.url = url
      if (webhook && enabled !== undefined) {
        webhook.disabled_at = enabled ? null : new Date()
        webhook.disabled_reason = enabled ? null : 'it was disabled by hand'
      }
      return webhook
    },
    drop: async (org, id) => (await find(org, id)) !== undefined && all.delete(id),
    rotate: async () => ({ secret: 'whsec_c2VjcmV0', former_until: new Date() }),
    test: async () => 'msg_test',
    deliveries: async () => [],
    replay: async () => 0,
  }
}
