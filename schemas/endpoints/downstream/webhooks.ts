import { manageWebhooks } from '../../derive/scopes.js'
import { answered, endpoint } from '../endpoint.js'
import { errorAnswer } from '../errors.js'
import * as v from '../values.js'

// Where an organisation wants to be told of what happens, and what was delivered there.

export const webhookEvents = [
  'records.accepted',
  'request.completed',
  'rejections.digest',
  'waiting.expired',
  'person.erased',
] as const
export type WebhookEvent = (typeof webhookEvents)[number]

/** How many an organisation may have. */
export const mostWebhooks = 20
/** How long the secret before a rotation stays valid where nothing else is said, and at most. */
const aDay = 86_400
const aWeek = 7 * aDay

const webhookId = v.text('webhook_id of the webhook')
const url = v.text('where deliveries go: https, and a public address unless the operator allows others', {
  pattern: '^https?://[^\\s\\x00]{1,2000}$',
  refusal: 'url must be an address that begins with https:// (at most 2000 characters)',
})
const events = v.list(v.oneOf(webhookEvents), 'what it is told of', {
  minItems: 1,
  uniqueItems: true,
  refusal: `events must be a list of some of ${webhookEvents.join(', ')}`,
})

const webhook = v.named('Webhook', {
  webhook_id: v.uuid,
  url: v.text(),
  events: v.list(v.oneOf(webhookEvents)),
  created_at: v.instant,
  enabled: v.flag('whether anything is delivered to it'),
  disabled_at: v.nullable(v.instant),
  disabled_reason: v.nullable(v.text(), 'why, in words'),
  failing_since: v.nullable(v.instant, 'since when what comes next could not be delivered'),
  waiting_since: v.nullable(v.instant, 'since when the oldest delivery waits'),
})
const delivery = v.named('WebhookDelivery', {
  delivery_id: v.text('the header webhook-id of the delivery'),
  event: v.oneOf([...webhookEvents, 'test']),
  state: v.oneOf(['pending', 'delivered', 'failed']),
  records: v.nullable(v.count('how many events or records are in it')),
  created_at: v.instant,
  ended_at: v.nullable(v.instant, 'when it was delivered, or given up'),
  attempts: v.count(),
  tried: v.list(
    v.object({
      at: v.instant,
      ms: v.count('how long it took'),
      status: v.nullable(v.integer(0), 'null where nothing was answered'),
      answer: v.optional(v.text('the first 2 KB of it')),
      problem: v.optional(v.text('why nothing was answered')),
    }),
    'the last attempts, the newest last',
  ),
})
const noSuch = errorAnswer(404, 'There is no such webhook.')
const made = { webhook_id: v.uuid, secret: v.text('what deliveries are signed with; shown this once') }

export const createWebhook = endpoint('POST', '/v1/webhooks', 'create-webhook', 'feeds', {
  summary: 'Have what happens sent to an address of yours',
  about: `From now on. Deliveries are signed as Standard Webhooks says (https://www.standardwebhooks.com), and come at least once: the same \`webhook-id\` is the same delivery. An organisation has at most ${mostWebhooks}.`,
  scope: manageWebhooks,
  body: {
    schema: v.closed({ url, events }),
    example: { url: 'https://example.com/weir', events: ['request.completed', 'records.accepted'] },
  },
  answers: {
    201: { about: 'It is made. Nobody can look its secret up later.', schema: v.object(made) },
    409: errorAnswer(409, 'Your organisation has as many as it may have.'),
  },
})

export const listWebhooks = endpoint('GET', '/v1/webhooks', 'list-webhooks', 'feeds', {
  summary: 'The webhooks of your organisation',
  scope: manageWebhooks,
  answers: answered('All of them.', v.object({ webhooks: v.list(webhook) })),
})

export const readWebhook = endpoint('GET', '/v1/webhooks/{webhook_id}', 'read-webhook', 'feeds', {
  summary: 'One webhook',
  scope: manageWebhooks,
  parameters: { webhook_id: webhookId },
  answers: { ...answered('The webhook.', webhook), 404: noSuch },
})

export const changeWebhook = endpoint('PATCH', '/v1/webhooks/{webhook_id}', 'change-webhook', 'feeds', {
  summary: 'Change a webhook: its address, what it is told of, or whether it is enabled',
  about:
    'One that is enabled goes on where it stopped. An event that is added is told of from now on; of one that is taken off, what is pending is given up.',
  scope: manageWebhooks,
  parameters: { webhook_id: webhookId },
  body: {
    schema: v.closed({ url: v.optional(url), events: v.optional(events), enabled: v.optional(v.flag()) }),
    example: { enabled: true },
  },
  answers: { ...answered('As it is now.', webhook), 404: noSuch },
})

export const deleteWebhook = endpoint('DELETE', '/v1/webhooks/{webhook_id}', 'delete-webhook', 'feeds', {
  summary: 'Delete a webhook, and its delivery log',
  scope: manageWebhooks,
  parameters: { webhook_id: webhookId },
  answers: { ...answered('It is gone.', v.object({ webhook_id: v.uuid })), 404: noSuch },
})

export const rotateWebhook = endpoint('POST', '/v1/webhooks/{webhook_id}/rotate', 'rotate-webhook-secret', 'feeds', {
  summary: 'A new secret for a webhook',
  about: 'Until `former_until` deliveries are signed with both, so that a receiver can change over at any moment.',
  scope: manageWebhooks,
  parameters: { webhook_id: webhookId },
  body: {
    schema: v.closed({
      grace_seconds: v.byDefault(v.integer(0, 'for how long the former secret signs, too', { maximum: aWeek }), aDay),
    }),
    example: { grace_seconds: 3600 },
    isOptional: true,
  },
  answers: { 201: { about: 'The new secret.', schema: v.object({ ...made, former_until: v.instant }) }, 404: noSuch },
})

export const testWebhook = endpoint('POST', '/v1/webhooks/{webhook_id}/test', 'test-webhook', 'feeds', {
  summary: 'Send a webhook a test',
  about: 'It is tried once; the delivery log shows what came of it.',
  scope: manageWebhooks,
  parameters: { webhook_id: webhookId },
  answers: {
    202: { about: 'It is on its way.', schema: v.object({ delivery_id: v.text() }) },
    404: noSuch,
    409: errorAnswer(409, 'The webhook is disabled.'),
  },
})

export const listDeliveries = endpoint('GET', '/v1/webhooks/{webhook_id}/deliveries', 'list-deliveries', 'feeds', {
  summary: 'What was delivered to a webhook, and what is to be; the newest first',
  scope: manageWebhooks,
  parameters: { webhook_id: webhookId },
  query: {
    state: v.optional(v.oneOf(['pending', 'delivered', 'failed'])),
    limit: v.limitTo(200, 50),
    cursor: v.cursor,
  },
  answers: {
    ...answered('A page.', v.object({ deliveries: v.list(delivery), next_cursor: v.nextCursor })),
    404: noSuch,
  },
})

export const replayDeliveries = endpoint('POST', '/v1/webhooks/{webhook_id}/replay', 'replay-deliveries', 'feeds', {
  summary: 'Deliver again: one delivery, or all of a stretch of time',
  about:
    'Beside what is new, in their order and under their ids. What was decided so long ago that it is no longer kept fails, and the log says so.',
  scope: manageWebhooks,
  parameters: { webhook_id: webhookId },
  body: {
    schema: v.closed({
      delivery_id: v.optional(v.text('one of the delivery log')),
      since: v.optional(v.moment),
      until: v.optional(v.moment),
    }),
    example: { since: '2026-01-31T12:00:00Z', until: '2026-01-31T13:00:00Z' },
  },
  answers: {
    202: { about: 'They are on their way.', schema: v.object({ deliveries: v.count('how many') }) },
    404: noSuch,
    409: errorAnswer(409, 'The webhook is disabled.'),
  },
})
