import fc from 'fast-check'
import type { PlacedVerdict } from '#schemas/derive/decided-events.js'
import type { Resumed, SubmittedBatch, SubmittedRecord } from '#schemas/events.js'
import type { Field, Value } from '#schemas/field.js'
import { columnsOf, type RecordType } from '#schemas/record.js'
import { mostOffsets } from '#schemas/version.js'

// Batches and verdicts with whatever values their schemas can hold, which is more than an edge would ever write.

const text = fc.string({ unit: 'grapheme', maxLength: 60 })
const bytes = fc.uint8Array({ minLength: 1, maxLength: 40 }).map((given) => Buffer.from(given))
const indexes = fc.uniqueArray(fc.nat(8191), { maxLength: 8 })

const valueOfKind = (field: Field): fc.Arbitrary<Value> => {
  switch (field.kind) {
    case 'uuid':
    case 'reference':
    case 'item':
      return fc.oneof(fc.uuid(), text)
    case 'text':
    case 'country':
      return text
    case 'choice':
      return fc.constantFrom(...field.of)
    case 'number':
      return fc.double()
    case 'boolean':
      return fc.boolean()
    case 'instant':
    case 'moment':
      return fc.integer({ min: -8.64e15 / 2, max: 8.64e15 })
    case 'date':
      return fc.integer({ min: -1e8, max: 1e8 })
    default:
      return field satisfies never
  }
}

const anyRecord = (type: RecordType, index: number): fc.Arbitrary<SubmittedRecord> =>
  fc.record({
    index: fc.constant(index),
    keyed_sha256: fc.option(bytes),
    ...Object.fromEntries(
      Object.entries(columnsOf(type)).map(([name, field]) => [
        name,
        field.required ? valueOfKind(field) : fc.option(valueOfKind(field)),
      ]),
    ),
  }) as fc.Arbitrary<SubmittedRecord>

export const anyBatch = (type: RecordType): fc.Arbitrary<SubmittedBatch> =>
  indexes.chain((taken) =>
    fc.record({
      org_id: text,
      request_id: fc.uuid(),
      batch_id: fc.oneof(fc.uuid(), text),
      batch: fc.nat(),
      batches: fc.nat(),
      first_index: fc.nat(100_000),
      submitted_at: fc.nat(),
      body_sha256: bytes,
      records: fc.tuple(...taken.map((index) => anyRecord(type, index))),
      refusals: fc.array(
        fc.record({
          index: fc.nat(8191),
          id: fc.option(text),
          problems: fc.array(
            fc.record({ field: fc.option(text), code: fc.constant('missing_field' as const), message: text }),
            { maxLength: 3 },
          ),
          record: text,
          truncated: fc.boolean(),
        }),
        { maxLength: 3 },
      ),
      gathered: fc.boolean(),
      keyed_requests: fc.array(
        fc.record({ index: fc.constantFrom(0, ...taken), request_id: fc.oneof(fc.uuid(), text) }),
        { maxLength: 3 },
      ),
      wait_until: fc.option(fc.nat(2 ** 42), { nil: null }) as fc.Arbitrary<number | null>,
      resumed: fc.subarray(taken).chain((resumed) => fc.tuple(...resumed.map(anyResumed))),
      key_id: fc.option(text, { nil: null }) as fc.Arbitrary<string | null>,
    }),
  )

const anyResumed = (index: number): fc.Arbitrary<Resumed> =>
  fc.record({
    index: fc.constant(index),
    request_id: fc.oneof(fc.uuid(), text),
    batch_id: fc.oneof(fc.uuid(), text),
    place: fc.nat(8191),
    request_index: fc.nat(100_000),
    version: fc.nat(2 ** 45),
    since: fc.nat(2 ** 42),
    until: fc.nat(2 ** 42),
  })

/** What may be decided on a batch: each of its records accepted, refused, taken before, waiting, or gone. */
export const anyVerdictOn = (batch: SubmittedBatch): fc.Arbitrary<PlacedVerdict> =>
  fc
    .record({
      fates: fc.tuple(
        ...batch.records.map(() => fc.constantFrom('accepted', 'refused', 'repeated', 'waiting', 'gone')),
      ),
      decided_at: fc.nat(2 ** 42),
      submitted_offset: fc.nat(mostOffsets - 1),
    })
    .map(({ fates, decided_at, submitted_offset }) => {
      const indexesOf = (fate: string) => batch.records.filter((_, i) => fates[i] === fate).map(({ index }) => index)
      const problems = [{ field: null, code: 'unknown_reference' as const, message: 'nobody knows it' }]
      const refused = indexesOf('refused').map((index) => ({ index, id: 'an id', problems }))
      const { org_id, request_id, batch_id, first_index, body_sha256, batches } = batch
      const same = { org_id, request_id, batch_id, batch: batch.batch, batches, first_index, body_sha256 }
      const repeated = indexesOf('repeated')
      const waiting = indexesOf('waiting').map((index) => ({ index, id: 'an id', for: [], until: 0 }))
      const gone = indexesOf('gone')
      return { ...same, type: 'any', decided_at, submitted_offset, accepted: 0, refused, repeated, waiting, gone }
    })
