import { randomBytes, randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Webhook, WebhookDelivery } from '../../../clients/typescript/src/endpoints.js'

type Asked = {
  method: string
  pathname: string
  query: URLSearchParams
  org: string
  body: Record<string, unknown>
  response: ServerResponse
}
type Attempt = WebhookDelivery['tried'][number]
/** What the receiver at an address answers, as its path says: /500, /hangs, /gone; any other takes everything. */
const answerOf = (url: string): Omit<Attempt, 'at'> => {
  if (url.endsWith('/hangs')) return { ms: 15_001, status: null, problem: 'no answer within 15 s' }
  if (url.endsWith('/500')) return { ms: 12, status: 500, answer: 'Traceback: <b>no such table</b>' }
  return { ms: 8, status: 200, answer: 'noted' }
}

/** /v1/webhooks, from memory. What is pending is tried once it was shown so: the page has to look again by itself. */
export const createPretendWebhooks = () => {
  const known: { org: string; webhook: Webhook; deliveries: WebhookDelivery[] }[] = []
  const now = () => new Date().toISOString()

  const add = (org: string, url: string, events: Webhook['events']) => {
    const webhook: Webhook = {
      ...{ webhook_id: randomUUID(), url, events, created_at: now(), enabled: true, disabled_at: null },
      ...{ disabled_reason: null, failing_since: null, waiting_since: null },
    }
    const one = { org, webhook, deliveries: [] as WebhookDelivery[] }
    known.push(one)
    return one
  }
  const deliver = (
    { deliveries }: { deliveries: WebhookDelivery[] },
    event: WebhookDelivery['event'],
    given: Partial<WebhookDelivery> = {},
  ) => {
    const delivery: WebhookDelivery = {
      ...{ delivery_id: `msg_${randomUUID()}`, event, state: 'pending', records: event === 'test' ? null : 3 },
      ...{ created_at: now(), ended_at: null, attempts: 0, tried: [] },
      ...given,
    }
    deliveries.unshift(delivery)
    return delivery
  }
  const attempt = (url: string, delivery: WebhookDelivery) => {
    const tried = { at: now(), ...answerOf(url) }
    delivery.tried = [...delivery.tried, tried].slice(-10)
    delivery.attempts += 1
    if (tried.status === 200 || delivery.event === 'test')
      delivery.state = tried.status === 200 ? 'delivered' : 'failed'
  }

  const answer = ({ method, pathname, query, org, body, response }: Asked): boolean => {
    const match = /^\/v1\/webhooks(?:\/([^/]+)(?:\/(\w+))?)?$/.exec(pathname)
    if (!match) return false
    const json = (status: number, value: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
      return true
    }
    const [, id, what = ''] = match
    if (!id && method === 'GET')
      return json(200, { webhooks: known.filter((each) => each.org === org).map(({ webhook }) => webhook) })
    const isBad = typeof body.url === 'string' && !/^https:\/\/[^/]*example\.com/.test(body.url)
    if (isBad) return json(400, { message: 'plain http leads only to networks that the operator allows: use https' })
    const secret = `whsec_${randomBytes(24).toString('base64')}`
    if (!id) {
      const { webhook } = add(org, String(body.url), body.events as Webhook['events'])
      return json(201, { webhook_id: webhook.webhook_id, secret })
    }
    const one = known.find(({ webhook, org: owner }) => owner === org && webhook.webhook_id === id)
    if (!one) return json(404, { message: 'there is no such webhook; GET /v1/webhooks shows those there are' })
    const { webhook, deliveries } = one
    const pending = deliveries.filter(({ state }) => state === 'pending')
    webhook.waiting_since = pending.at(-1)?.created_at ?? null
    switch (`${method} ${what}`) {
      case 'GET ':
        return json(200, webhook)
      case 'PATCH ': {
        const { enabled = webhook.enabled, ...rest } = body as Partial<Webhook>
        const reason = 'it was disabled by hand'
        const ended = enabled
          ? { disabled_at: null, disabled_reason: null }
          : { disabled_at: now(), disabled_reason: reason }
        return json(200, Object.assign(webhook, rest, { enabled }, ended))
      }
      case 'DELETE ':
        known.splice(known.indexOf(one), 1)
        return json(200, { webhook_id: id })
      case 'POST rotate': {
        const until = new Date(Date.now() + Number(body.grace_seconds ?? 86_400) * 1000).toISOString()
        return json(201, { webhook_id: id, secret, former_until: until })
      }
      case 'POST test':
        return json(202, { delivery_id: deliver(one, 'test').delivery_id })
      case 'POST replay': {
        const again = deliveries.filter(
          ({ delivery_id, event, state, created_at }) =>
            state !== 'pending' &&
            event !== 'test' &&
            (!body.delivery_id || delivery_id === body.delivery_id) &&
            (!body.since || created_at >= String(body.since)) &&
            (!body.until || created_at < String(body.until)),
        )
        for (const each of again) each.state = 'pending'
        return json(202, { deliveries: again.length })
      }
      case 'GET deliveries': {
        const found = deliveries.filter(({ state }) => !query.get('state') || state === query.get('state'))
        const from = Number(query.get('cursor') ?? 0)
        const until = from + Number(query.get('limit') ?? 50)
        json(200, { deliveries: found.slice(from, until), next_cursor: until < found.length ? String(until) : null })
        if (webhook.enabled) for (const each of pending) attempt(webhook.url, each)
        return true
      }
      default:
        return json(404, { message: 'there is nothing at this address' })
    }
  }
  return { answer, add, deliver, known }
}

/** Webhooks to look at: one that works, with a log, one that fails, and one that was disabled. */
export const fillWebhooks = ({ add, deliver }: ReturnType<typeof createPretendWebhooks>, org: string) => {
  const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()
  const at = (minutes: number, tried: Omit<Attempt, 'at'>) => ({ at: ago(minutes), ...tried })
  const good = add(org, 'https://orders.example.com/hooks/weir', [
    'records.accepted',
    'request.completed',
    'rejections.digest',
  ])
  good.webhook.created_at = ago(60 * 24 * 9)
  for (let n = 70; n >= 0; n -= 1) {
    const event = n % 9 === 4 ? 'rejections.digest' : n % 2 ? 'request.completed' : 'records.accepted'
    const slow = n % 13 === 6
    const first = slow ? [at(n * 7, { ms: 15_001, status: null, problem: 'no answer within 15 s' })] : []
    const tried = [...first, at(n * 7 - (slow ? 1 : 0), { ms: 20 + (n % 40), status: 200, answer: '{"ok": true}' })]
    const failed =
      n === 3 ? [at(n * 7, { ms: 0, status: null, problem: 'what was in it is no longer kept' })] : undefined
    deliver(good, event, {
      ...{ created_at: ago(n * 7), ended_at: ago(n * 7), state: failed ? 'failed' : 'delivered' },
      ...{
        tried: failed ?? tried,
        attempts: (failed ?? tried).length,
        records: event === 'records.accepted' ? 200 : 1,
      },
    })
  }
  const failing = add(org, 'https://crm.example.com/in/500', ['records.accepted'])
  Object.assign(failing.webhook, { failing_since: ago(44), waiting_since: ago(44) })
  const tried = [40, 30, 12].map((minutes) => at(minutes, answerOf('/500')))
  deliver(failing, 'records.accepted', { created_at: ago(44), tried, attempts: 14, records: 200 })
  const ended = add(org, 'https://old-till.example.com/a-long-path/that-names-the-shop-and-the-till/and-more-of-it', [
    'waiting.expired',
  ])
  Object.assign(ended.webhook, {
    ...{ created_at: ago(60 * 24 * 40), enabled: false, disabled_at: ago(60 * 30) },
    disabled_reason:
      'the receiver has not taken a delivery for 72 hours; at last: connect ECONNREFUSED 203.0.113.7:443',
  })
  return { good, failing, ended }
}
