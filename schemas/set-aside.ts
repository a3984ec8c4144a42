import { rejectedKey } from './derive/names.js'
import type { RejectedEvent } from './events.js'
import { derivedId } from './uuid.js'

const mostBytes = 48 * 1024
/** Stands for the organisation of what cannot be decoded: which one that is stands in the message. */
export const ofNobodyKnown = ''

/** The bytes that were set aside, as far as they are kept. */
export const bytesSetAside = ({ record }: Pick<RejectedEvent, 'record'>): Buffer => Buffer.from(record, 'base64')

/**
 * How the id of an organisation stands in what Weir itself wrote, and in JSON: an Avro text begins with its length. So an id that is part of a
 * longer one, or a word in a text, is none. One byte is enough for the length, since no id has more than 63 letters.
 */
export const formsOfOrg = (orgId: string): Buffer[] => [
  Buffer.concat([Buffer.of(2 * orgId.length), Buffer.from(orgId)]),
  Buffer.from(JSON.stringify(orgId)),
]

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
  org_id: ofNobodyKnown,
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
    return { key: rejectedKey(event), value: encode(event) }
  }
