import type { RejectedEvent } from './events.js'
import { derivedId } from './uuid.js'

const mostBytes = 48 * 1024
const noRequest = '00000000-0000-0000-0000-000000000000'

/** A rejection for a message that cannot be decoded, with its bytes and its place in the log. */
export const toSetAside = (message: {
  topic: string
  partition: number
  offset: number
  timestamp: number
  value: Buffer
  reason: string
}): RejectedEvent => ({
  // The organisation is not known: it stands in the message.
  org_id: '',
  request_id: noRequest,
  batch_id: derivedId('set aside', message.topic, String(message.partition), String(message.offset)),
  // The message's own time, so that a second publication of the rejection is the same event.
  rejected_at: message.timestamp,
  version: message.offset,
  type: message.topic,
  index: 0,
  id: `${message.topic}/${message.partition}/${message.offset}`,
  problems: [{ field: null, code: 'undecodable', message: message.reason }],
  record: message.value.subarray(0, mostBytes).toString('base64'),
  truncated: message.value.length > mostBytes,
})

/** The same as a message of the rejected topic, its key included. */
export const createSetAsideMessage =
  (encode: (event: RejectedEvent) => Buffer) =>
  (unreadable: Parameters<typeof toSetAside>[0]): { key: string; value: Buffer } => {
    const event = toSetAside(unreadable)
    return { key: event.batch_id, value: encode(event) }
  }
