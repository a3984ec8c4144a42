import avro from 'avsc'
import { type AvroSchema, submittedSchema } from '../derive/avro.js'
import type { SubmittedBatch } from '../events.js'
import type { Values } from '../field.js'
import type { RecordType } from '../record.js'
import { interactionIdsOf } from '../uuid.js'
import { type AvroBytes, writeBytes, writeLong } from './avro-bytes.js'

/** A record on its way out, as Avro: `size` bytes of `avro` from `at` on. */
export type OutgoingRecord = {
  /** The place in the batch, once the record is in one. */
  index: number
  keyedSha256: Buffer | null
  avro: Buffer
  at: number
  size: number
}

/** What was written to `out` since it was begun, as a record. */
export const recordIn = ({ bytes, start, at }: AvroBytes): OutgoingRecord => ({
  index: 0,
  keyedSha256: null,
  avro: bytes,
  at: start,
  size: at - start,
})

/**
 * A submitted batch whose records are encoded already, with the lane that they are of and the generation of topics that this lane
 * belongs to: its place in the log will tell both.
 */
export type OutgoingBatch = Omit<SubmittedBatch, 'records'> & {
  records: OutgoingRecord[]
  lane?: number
  generation?: number
  /** Whether the values that the service adds are missing in the records: they are written with the batch, see `writeAssigned`. */
  assigns?: boolean
}

/** Puts encoded records together to one event: what comes before them, their number, the records, what comes after them. */
export const createBatchCodec = (type: RecordType) => {
  const { before, after, whole, assigned } = partsOf(type)
  /** For batches that differ only in their records: what stands around those is encoded once. */
  const frame = (batch: Omit<OutgoingBatch, 'records'>, header: Buffer = noHeader) => {
    const head = before.toBuffer(batch)
    const tail = after.toBuffer(batch)
    const added = batch.assigns ? assigned.toBuffer(assignedTo(batch)) : undefined
    return (records: readonly OutgoingRecord[]): Buffer => {
      const room = header.length + head.length + sizeOf(records, added?.length) + tail.length
      const out: AvroBytes = { bytes: Buffer.allocUnsafe(room), at: 0, start: 0 }
      writeBytes(out, header, 0, header.length)
      writeBytes(out, head, 0, head.length)
      writeRecords(out, records, added && { bytes: added, first: batch.first_index })
      writeBytes(out, tail, 0, tail.length)
      return out.bytes.subarray(0, out.at)
    }
  }
  return {
    /** The event, after what has to stand before it. */
    encode: (batch: OutgoingBatch, header?: Buffer): Buffer => frame(batch, header)(batch.records),
    frame,
    decode: (event: Buffer): SubmittedBatch => whole.fromBuffer(event) as SubmittedBatch,
  }
}

const noHeader = Buffer.alloc(0)

/** An encoder for the values of one record, as `createStraightReader` writes them; after those that the service adds, if they are given. */
export const createValuesEncoder = (type: RecordType): ((values: Values, assigned?: Values) => Buffer) => {
  const { columns, fields } = partsOf(type)
  return (values, assigned) => (assigned ? columns.toBuffer({ ...assigned, ...values }) : fields.toBuffer(values))
}

/** Tells a record's id from its Avro; only as much of it as stands before the id is read. */
export const createIdOf = (type: RecordType): ((record: Pick<OutgoingRecord, 'avro' | 'at'>) => string) => {
  const { untilId } = partsOf(type)
  return ({ avro: bytes, at }) => String(untilId.decode(bytes, at).value[type.id])
}

/** Reads the values of a record; `isBare` where those that the service adds are still missing. */
export const createValuesOf = (
  type: RecordType,
): ((record: Pick<OutgoingRecord, 'avro' | 'at'>, isBare: boolean) => Values) => {
  const { columns, fields } = partsOf(type)
  return ({ avro: bytes, at }, isBare) => (isBare ? fields : columns).decode(bytes, at).value
}

type SchemaField = { name: string; type: AvroSchema }
type SchemaRecord = { type: 'record'; name: string; fields: SchemaField[] }

/** The schema of a submitted batch, and the parts that are written one after another. */
const partsOf = (type: RecordType): ReturnType<typeof makeParts> => {
  const parts = madeParts.get(type) ?? makeParts(type)
  madeParts.set(type, parts)
  return parts
}

// An edge asks six times for the parts of each type: to make them anew each time took 0.2 s of its start.
const madeParts = new WeakMap<RecordType, ReturnType<typeof makeParts>>()

const makeParts = (type: RecordType) => {
  const schema = submittedSchema(type) as SchemaRecord
  const place = schema.fields.findIndex(({ name }) => name === 'records')
  const { items } = (schema.fields[place] as SchemaField).type as { items: SchemaRecord }
  const part = (from: SchemaRecord, fields: SchemaField[]) => avro.Type.forSchema({ ...from, fields } as avro.Schema)
  return {
    before: part(schema, schema.fields.slice(0, place)),
    after: part(schema, schema.fields.slice(place + 1)),
    // Without the place in the batch and the key, which are known only when the batch is made.
    columns: part(items, items.fields.slice(aroundRecord)),
    // What the service adds comes first.
    assigned: part(items, items.fields.slice(aroundRecord, aroundRecord + Object.keys(type.assigned).length)),
    fields: part(items, items.fields.slice(aroundRecord + Object.keys(type.assigned).length)),
    untilId: part(items, items.fields.slice(aroundRecord, items.fields.findIndex(({ name }) => name === type.id) + 1)),
    whole: avro.Type.forSchema(schema as avro.Schema),
  }
}

// The place in the batch and the key come before the values of a record.
const aroundRecord = 2
// The place in the batch, and the length of the key before the key itself.
const mostAroundRecord = 5 + 2
const mostAroundRecords = 10

const sizeOf = (records: readonly OutgoingRecord[], assigned = 0): number => {
  let size = mostAroundRecords
  for (const record of records) size += mostAroundRecord + (record.keyedSha256?.length ?? 0) + assigned + record.size
  return size
}

/** What the service adds to interactions that come many in a request, up to the place in their ids. */
const assignedTo = ({ request_id, submitted_at }: Pick<SubmittedBatch, 'request_id' | 'submitted_at'>): Values => ({
  interaction_id: `${interactionIdsOf(request_id)}0000`,
  recorded_at: submitted_at,
})

/** As Avro, before the values of a record. The id comes first, after its length; its last four digits are the place in the request. */
type AssignedBytes = { bytes: Buffer; first: number }
const endOfId = 1 + 36

const writeAssigned = (out: AvroBytes, { bytes, first }: AssignedBytes, index: number): void => {
  const { at } = out
  writeBytes(out, bytes, 0, bytes.length)
  let place = first + index
  for (let digit = at + endOfId - 1; place > 0; digit--, place >>>= 4) out.bytes[digit] = hex[place & 15] as number
}
const hex = Buffer.from('0123456789abcdef')

const writeRecords = (out: AvroBytes, records: readonly OutgoingRecord[], assigned?: AssignedBytes): void => {
  // An array is its number of items, the items, and a zero.
  if (records.length > 0) writeLong(out, records.length)
  for (const { index, keyedSha256, avro: bytes, at, size } of records) {
    writeLong(out, index)
    writeLong(out, keyedSha256 ? 1 : 0)
    if (keyedSha256) {
      writeLong(out, keyedSha256.length)
      writeBytes(out, keyedSha256, 0, keyedSha256.length)
    }
    if (assigned) writeAssigned(out, assigned, index)
    writeBytes(out, bytes, at, at + size)
  }
  writeLong(out, 0)
}
