import type { FastifyInstance, FastifyRequest } from 'fastify'
import { pageOf, readCursor, writeCursor } from '#http/cursor.js'
import { addEndpoints, badRequest, on } from '#http/endpoint.js'
import { callerOf } from '#http/request-context.js'
import { type RequestError, requestError } from '#http/request-error.js'
import type { Doer } from '#ledger/audit.js'
import type { Webhook } from '#ledger/webhooks/webhooks.js'
import type { Catalogue } from '#schemas/catalogue.js'
import * as endpoints from '#schemas/endpoints/downstream/webhooks.js'
import { isUuid } from '#schemas/uuid.js'
import type { Reads } from '../reads.js'
import type { WebhookActions } from './actions.js'

export type WebhookDeps = { catalogue: Catalogue; webhooks: WebhookActions; consoleReads: Reads }

/** /v1/webhooks: where the caller's organisation is told of what happens. One of another organisation is as one that is not there. */
export const addWebhooks = (app: FastifyInstance, deps: WebhookDeps): void => {
  const { webhooks: actions, consoleReads } = deps
  const doerOf = (request: FastifyRequest): Doer => ({
    actor: callerOf(request).keyId ?? 'nobody',
    requestId: request.id,
  })
  /** Does something when the organisation's turn comes; 404 where that finds nothing. */
  const inTurn = async <T extends object>(
    request: FastifyRequest,
    work: (org: string) => Promise<T | undefined>,
  ): Promise<T | { error: RequestError }> => {
    const { orgId } = callerOf(request)
    const done = await consoleReads(orgId, async () => ({ found: await work(orgId) }))
    return 'error' in done ? done : (done.found ?? { error: noSuchWebhook })
  }
  /** The same, of one webhook that is there. */
  const onOne = <T extends object>(
    request: FastifyRequest,
    webhookId: string,
    work: (webhook: Webhook) => Promise<T | undefined>,
  ) =>
    inTurn<T | { error: RequestError }>(request, async (org) => {
      const webhook = isUuid(webhookId) ? await actions.find(org, webhookId) : undefined
      return webhook && (await work(webhook))
    })
  const onEnabled = <T extends object>(
    request: FastifyRequest,
    webhookId: string,
    work: (webhook: Webhook) => Promise<T>,
  ) =>
    onOne<T | { error: RequestError }>(request, webhookId, async (webhook) =>
      webhook.disabled_at === null ? work(webhook) : { error: isDisabled },
    )

  addEndpoints(app, deps.catalogue, [
    on(endpoints.createWebhook, async ({ body: { url, events } }, request, reply) => {
      const made = await inTurn(request, async (org) => {
        const problem = await actions.whyNotTo(url)
        if (problem !== undefined) return { error: badUrl(problem) }
        return (await actions.create({ org, url, events }, doerOf(request))) ?? { error: tooMany }
      })
      if (!('error' in made)) reply.code(201)
      return made
    }),
    on(endpoints.listWebhooks, (_, request) =>
      inTurn(request, async (org) => ({ webhooks: (await actions.list(org)).map(shown) })),
    ),
    on(endpoints.readWebhook, ({ parameters }, request) =>
      onOne(request, parameters.webhook_id, async (webhook) => shown(webhook)),
    ),
    on(endpoints.changeWebhook, ({ parameters, body }, request) =>
      onOne(request, parameters.webhook_id, async ({ org, webhook_id }) => {
        const problem = body.url === undefined ? undefined : await actions.whyNotTo(body.url)
        if (problem !== undefined) return { error: badUrl(problem) }
        const changed = await actions.change(org, webhook_id, body, doerOf(request))
        return changed && shown(changed)
      }),
    ),
    on(endpoints.deleteWebhook, ({ parameters }, request) =>
      onOne(request, parameters.webhook_id, async ({ org, webhook_id }) =>
        (await actions.drop(org, webhook_id, doerOf(request))) ? { webhook_id } : undefined,
      ),
    ),
    on(endpoints.rotateWebhook, async ({ parameters, body }, request, reply) => {
      const rotated = await onOne(request, parameters.webhook_id, async ({ org, webhook_id }) => {
        const made = await actions.rotate(org, webhook_id, body.grace_seconds ?? aDay, doerOf(request))
        return made && { webhook_id, ...made }
      })
      if (!('error' in rotated)) reply.code(201)
      return rotated
    }),
    on(endpoints.testWebhook, async ({ parameters }, request, reply) => {
      const sent = await onEnabled(request, parameters.webhook_id, async ({ org, webhook_id }) => ({
        delivery_id: await actions.test(org, webhook_id),
      }))
      if (!('error' in sent)) reply.code(202)
      return sent
    }),
    on(
      endpoints.listDeliveries,
      ({ parameters, query: { state, limit, cursor } }, request) =>
        onOne(request, parameters.webhook_id, async ({ webhook_id }) => {
          const found = await actions.deliveries(webhook_id, { state, before: cursor, most: limit + 1 })
          const { shown: page, next_cursor } = pageOf(found, limit, ({ place }) => writeCursor([place]))
          return { deliveries: page.map(({ place, ...delivery }) => delivery), next_cursor }
        }),
      { reads: { cursor: readPlace } },
    ),
    on(endpoints.replayDeliveries, async ({ parameters, body }, request, reply) => {
      const { delivery_id: deliveryId, since, until } = body
      if (deliveryId === undefined && since === undefined) return { error: badReplay }
      const replayed = await onEnabled(request, parameters.webhook_id, async ({ webhook_id }) => ({
        deliveries: await actions.replay(webhook_id, { deliveryId, since, until }),
      }))
      if (!('error' in replayed)) reply.code(202)
      return replayed
    }),
  ])
}

const aDay = 86_400

const shown = ({ org: _, ...webhook }: Webhook) => ({ ...webhook, enabled: webhook.disabled_at === null })

const readPlace = (text: string): number | undefined => {
  const [place] = readCursor(text, 1)
  return Number.isSafeInteger(place) ? Number(place) : undefined
}

const noSuchWebhook = requestError(404, 'there is no such webhook; GET /v1/webhooks shows those there are')
const isDisabled = requestError(409, 'the webhook is disabled; PATCH it with {"enabled": true} first')
const tooMany = requestError(
  409,
  `your organisation has ${endpoints.mostWebhooks} webhooks; delete some that are not used any more`,
)
const badUrl = (message: string): RequestError => badRequest([{ field: 'url', code: 'bad_format', message }])
const badReplay = badRequest([
  {
    field: 'delivery_id',
    code: 'missing_field',
    message: 'name a delivery with delivery_id, or a stretch of time with since',
  },
])
