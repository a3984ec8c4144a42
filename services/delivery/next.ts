import { createHash } from 'node:crypto'
import { type FeedCursor, readCursor } from '#feeds/cursor.js'
import type { DeliveredEvent, Draft } from '#ledger/webhooks/deliveries.js'
import type { HeldQueue } from '#ledger/webhooks/queues.js'
import type { WebhookEvent } from '#schemas/endpoints/downstream/webhooks.js'
import { writeJson } from '#schemas/json-text.js'

// What every kind of delivery has in common: where it is read from, its id and its body.

/** What is read from the log or off the verdicts; all else is put into its queue when it happens. */
export type ReadEvent = Exclude<WebhookEvent, 'person.erased'>

export type QueueToRead = Pick<HeldQueue, 'webhookId' | 'org' | 'readTo'>

/** What comes next of a queue, and where it goes on afterwards. */
export type MadeNext = { drafts: Draft[]; readTo: string; isEnd: boolean }

export const cursorOf = (org: string, text: string): FeedCursor => {
  const cursor = readCursor(org, text)
  if (cursor === undefined || cursor === 'foreign')
    throw new Error(`the place that a webhook of ${org} has read to is none`)
  return cursor
}

/** The same for the same part of the log: a delivery that is put together again, after a process was killed, is recognised. */
export const idOf = (webhookId: string, event: DeliveredEvent, part: string): string =>
  `msg_${createHash('sha256')
    .update(JSON.stringify([webhookId, event, part]))
    .digest('base64url')
    .slice(0, 27)}`

/** `data` as JSON. */
export const bodyOf = (type: DeliveredEvent, data: string, at = new Date()): string =>
  `{"type":${writeJson(type)},"timestamp":${writeJson(at)},"data":${data}}`
