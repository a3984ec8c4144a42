import type { RejectedEvent } from './events.js'

/** A message that nobody can read, where it stands, and why. */
export type Unreadable = {
  topic: string
  partition: number
  offset: number
  timestamp: number
  value: Buffer
  reason: string
}

const mostBytes = 48 * 1024
const nobody = '00000000-0000-0000-0000-000000000000'

/** What is told of such a message: it goes to the rejections with its bytes and its place, and the consumer goes on. */
export const toSetAside = (message: Unreadable, batchId: string): RejectedEvent => ({
  // Whose it is cannot be told.
  org_id: '',
  request_id: nobody,
  batch_id: batchId,
  // The message's own time: telling it again gives the same event.
  rejected_at: message.timestamp,
  version: message.offset,
  type: message.topic,
  index: 0,
  id: `${message.topic}/${message.partition}/${message.offset}`,
  problems: [{ field: null, code: 'undecodable', message: message.reason }],
  record: message.value.subarray(0, mostBytes).toString('base64'),
  truncated: message.value.length > mostBytes,
})
