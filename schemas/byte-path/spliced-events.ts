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
import { type AvroBytes, begin, createAvroBytes, longestLong, writeLong } from './avro-bytes.js'
import { createRead } from './plain-avro.js'
import type { ScannedBatch } from './scan-batch.js'

/** An accepted event as a message: the id of its record, and its bytes in the registry's wire format. */
export type SplicedEvent = { id: string; value: Buffer }

/** The events of a decided batch, as `createEventsOf` makes them: the bytes of accepted records are copied from the message. */
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
    const out = createAvroBytes((metadata.length + longestLong) * records.length + message.length)
    const spliced: SplicedEvent[] = []
    for (const [place, record] of records.entries()) {
      if (!isNew(record.index)) continue
      const own = originAt(record.index)
      if (own.requestId !== origin.requestId || own.batchId !== origin.batchId) {
        origin = own
        metadata = metadataOf(origin)
      }
      const from = begins[place] ?? 0
      const to = ends[place] ?? 0
      begin(out, metadata.length + longestLong + to - from)
      put(out, metadata)
      writeLong(out, versionOf(verdict.submitted_offset, record.index))
      put(out, message, from, to)
      spliced.push({ id: String(record[type.id]), value: out.bytes.subarray(out.start, out.at) })
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
  const out = createAvroBytes(
    texts.reduce((sum, { length }) => sum + longestLong + length, header.length + longestLong),
  )
  put(out, header)
  for (const text of texts) {
    writeLong(out, text.length)
    put(out, text)
  }
  writeLong(out, acceptedAt)
  return out.bytes.subarray(0, out.at)
}

const put = (out: AvroBytes, bytes: Buffer, from?: number, to?: number): void => {
  out.at += bytes.copy(out.bytes, out.at, from, to)
}
