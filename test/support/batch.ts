import { randomUUID } from 'node:crypto'
import avro from 'avsc'
import { headerLength, headerOf } from '#platform/registry.js'
import {
  createScanBatch,
  createValuesEncoder,
  type OutgoingBatch,
  type ScannedBatch,
} from '#schemas/byte-path/byte-path.js'
import { submittedSchema } from '#schemas/derive/avro.js'
import { createValidator } from '#schemas/derive/validator.js'
import type { Refusal, SubmittedBatch, SubmittedRecord } from '#schemas/events.js'
import type { Values } from '#schemas/field.js'
import type { RecordType } from '#schemas/record.js'

/** A submitted batch as the edge would publish it, of records that are valid by themselves. */
export const batchOf = (
  type: RecordType,
  records: Record<string, unknown>[],
  over: Partial<SubmittedBatch> = {},
): SubmittedBatch => ({
  org_id: 'acme',
  request_id: randomUUID(),
  batch_id: randomUUID(),
  batch: 1,
  batches: 1,
  first_index: 0,
  submitted_at: Date.UTC(2026, 0, 1),
  body_sha256: Buffer.alloc(32, 1),
  records: records.map((given, index) => submittedRecord(type, given, index)),
  refusals: [],
  ...over,
})

/** The same batch as the edge has it before it publishes it. */
export const outgoing = (type: RecordType, { records, ...batch }: SubmittedBatch): OutgoingBatch => {
  const encode = createValuesEncoder(type)
  return {
    ...batch,
    records: records.map(({ index, keyed_sha256, ...values }) => {
      const avro = encode(values as Values)
      return { index, keyedSha256: keyed_sha256, avro, at: 0, size: avro.length }
    }),
  }
}

export const submittedRecord = (type: RecordType, given: Record<string, unknown>, index: number): SubmittedRecord => {
  const validated = createValidator(type)(given)
  if ('problems' in validated) throw new Error(JSON.stringify(validated.problems))
  return { index, keyed_sha256: null, ...assignedOf(type), ...validated.values }
}

export const refusalOf = (index: number, id: string | null = null): Refusal => ({
  index,
  id,
  problems: [{ field: 'name', code: 'missing_field', message: 'name is required' }],
  record: '{}',
  truncated: false,
})

const assignedOf = (type: RecordType): Record<string, string | number> =>
  Object.fromEntries(
    Object.entries(type.assigned).map(([name, field]) => [
      name,
      field.kind === 'uuid' ? randomUUID() : Date.UTC(2026, 0, 1),
    ]),
  )

/** The batch as a message of the submitted topic, under the id that a registry gave to this version's schema. */
export const submittedMessage = (type: RecordType, batch: SubmittedBatch, schemaId = 7): Buffer => {
  const written = { gathered: false, keyed_requests: [], wait_until: null, resumed: [], key_id: null, ...batch }
  return Buffer.concat([
    headerOf(schemaId),
    avro.Type.forSchema(submittedSchema(type) as avro.Schema).toBuffer(written),
  ])
}

/** The batch as integrity reads it. */
export const scannedBatch = (type: RecordType, batch: SubmittedBatch): ScannedBatch => {
  const scanned = createScanBatch(type)(submittedMessage(type, batch), headerLength)
  if (!scanned) throw new Error('a batch that was just written is not plain')
  return scanned
}
