import { columnFields } from '../derive/avro.js'
import {
  createEventsOf,
  createIsNew,
  originsOf,
  type PlacedVerdict,
  type SubmittedAs,
} from '../derive/decided-events.js'
import type { RejectedEvent, SubmittedRecord } from '../events.js'
import type { Value } from '../field.js'
import type { RecordType } from '../record.js'
import { versionOf } from '../version.js'
import { createRead, longestLong, writeLong } from './plain-avro.js'
import type { ScannedBatch } from './scan-batch.js'

/** An accepted event as a message: the id of its record, and its bytes in the registry's wire format. */
export type SplicedEvent = { id: string; value: Buffer }

/**
 * The events of a decided batch, the same as `createEventsOf` and an encoder make. An accepted event is its metadata followed
 * by the record's fields, and so are its bytes: those of the fields are copied from the message. Only refused records are read
 * as a whole. `header` is what a message of the accepted topic begins with.
 */
export const createSplice = (type: RecordType, header: Buffer) => {
  const events = createEventsOf(type)
  const columns = columnFields(type).map((field) => ({ name: field.name, read: createRead(field.type) }))

  const accepted = (batch: ScannedBatch, verdict: PlacedVerdict): SplicedEvent[] => {
    const { message, records, begins, ends } = batch
    const isNew = createIsNew(verdict)
    const originAt = originsOf(batch)
    const metadataOf = (origin: SubmittedAs) => toMetadata(header, batch.org_id, origin, verdict.decided_at)
    let origin: SubmittedAs = { requestId: batch.request_id, batchId: batch.batch_id }
    let metadata = metadataOf(origin)
    // One piece of memory for all events of the batch; another one only where the ids differ in length.
    let room = Buffer.allocUnsafeSlow((metadata.length + longestLong) * records.length + message.length)
    let at = 0
    const spliced: SplicedEvent[] = []
    for (const [place, record] of records.entries()) {
      if (!isNew(record.index)) continue
      const own = originAt(record.index)
      if (own.requestId !== origin.requestId || own.batchId !== origin.batchId) {
        origin = own
        metadata = metadataOf(origin)
      }
      const begin = begins[place] ?? 0
      const end = ends[place] ?? 0
      const most = metadata.length + longestLong + end - begin
      if (room.length - at < most) {
        room = Buffer.allocUnsafeSlow(most)
        at = 0
      }
      const from = at
      at += metadata.copy(room, at)
      at = writeLong(room, at, versionOf(verdict.submitted_offset, record.index))
      at += message.copy(room, at, begin, end)
      spliced.push({ id: String(record[type.id]), value: room.subarray(from, at) })
    }
    return spliced
  }

  const readWhole = ({ message, begins }: ScannedBatch, record: SubmittedRecord, place: number): SubmittedRecord => {
    const source = { bytes: message, at: begins[place] ?? 0 }
    const whole = { ...record }
    for (const { name, read } of columns) whole[name] = read(source) as Value
    return whole
  }

  const rejected = (batch: ScannedBatch, verdict: PlacedVerdict): RejectedEvent[] => {
    if (verdict.refused.length === 0) return []
    const refused = new Set(verdict.refused.map(({ index }) => index))
    const records = batch.records.flatMap((record, place) =>
      refused.has(record.index) ? [readWhole(batch, record, place)] : [],
    )
    return events.rejected({ ...batch, records }, verdict)
  }

  return { accepted, rejected }
}

/** What an accepted event begins with, up to its version. */
const toMetadata = (header: Buffer, orgId: string, { requestId, batchId }: SubmittedAs, acceptedAt: number): Buffer => {
  const texts = [orgId, requestId, batchId].map((text) => Buffer.from(text))
  const most = texts.reduce((sum, { length }) => sum + longestLong + length, header.length + longestLong)
  const metadata = Buffer.allocUnsafe(most)
  let at = header.copy(metadata)
  for (const text of texts) {
    at = writeLong(metadata, at, text.length)
    at += text.copy(metadata, at)
  }
  return metadata.subarray(0, writeLong(metadata, at, acceptedAt))
}
