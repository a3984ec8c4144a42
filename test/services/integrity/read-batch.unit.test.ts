import avro from 'avsc'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { bodyOf, headerOf, NewerSchema, schemaIdOf, Undecodable } from '#platform/registry.js'
import { createSplice } from '#schemas/byte-path/byte-path.js'
import { acceptedSchema, submittedSchema } from '#schemas/derive/avro.js'
import { createEventsOf, type PlacedVerdict } from '#schemas/derive/decided-events.js'
import type { SubmittedBatch } from '#schemas/events.js'
import { shop } from '#schemas/records/shop.js'
import { createReadBatch } from '../../../services/integrity/read-batch.js'
import { anyBatch, anyVerdictOn } from '../../support/any-batch.js'
import { batchOf, submittedMessage } from '../../support/batch.js'
import { sampleOf } from '../../support/sample.js'

type Fields = { name: string; type: { items: { fields: { name: string }[] } } }[]
const schema = submittedSchema(shop) as unknown as { fields: Fields }
const withFields = (fields: unknown): avro.Type => avro.Type.forSchema({ ...schema, fields } as avro.Schema)
const submitted = withFields(schema.fields)
const accepted = avro.Type.forSchema(acceptedSchema(shop) as avro.Schema)

/** The schema of an edge that knew no `is_public` yet. */
const older = withFields(
  schema.fields.map((field) => {
    if (field.name !== 'records') return field
    const { items } = field.type
    const fields = items.fields.filter(({ name }) => name !== 'is_public')
    return { ...field, type: { ...field.type, items: { ...items, fields } } }
  }),
)

const [ownId, olderId, newerId] = [7, 6, 8]
const decode = (message: Buffer): SubmittedBatch => {
  const body = bodyOf(message)
  if (schemaIdOf(message) === newerId) throw new NewerSchema('written with a newer schema')
  return schemaIdOf(message) === olderId
    ? submitted.fromBuffer(body, submitted.createResolver(older))
    : submitted.fromBuffer(body)
}
const read = await createReadBatch(shop, {
  prepare: async () => ownId,
  encoder: async () => (batch: unknown) => Buffer.concat([headerOf(ownId), submitted.toBuffer(batch)]),
  decoder:
    <T>() =>
    async (message: Buffer | null) => {
      try {
        return decode(message as Buffer) as T
      } catch (error) {
        throw error instanceof NewerSchema ? error : new Undecodable((error as Error).message)
      }
    },
})

const splice = createSplice(shop, headerOf(9))
const eventsOf = async (message: Buffer, verdict: PlacedVerdict) => {
  const batch = await read(message)
  return {
    accepted: splice.accepted(batch, verdict).map(({ value }) => value),
    rejected: splice.rejected(batch, verdict),
  }
}
const events = createEventsOf(shop)
/** As integrity made them before it scanned: decoded, and encoded again. */
const expectedOf = (message: Buffer, verdict: PlacedVerdict) => {
  const batch = decode(message)
  const encode = (event: unknown) => Buffer.concat([headerOf(9), accepted.toBuffer(event)])
  return { accepted: events.accepted(batch, verdict).map(encode), rejected: events.rejected(batch, verdict) }
}
const anyDecided = anyBatch(shop).chain((batch) => fc.tuple(fc.constant(batch), anyVerdictOn(batch)))
const holdsFor = (write: (batch: SubmittedBatch) => Buffer) =>
  fc.assert(
    fc.asyncProperty(anyDecided, async ([batch, verdict]) => {
      const message = write(batch)
      expect(await eventsOf(message, verdict)).toEqual(expectedOf(message, verdict))
    }),
    { numRuns: 50, endOnFailure: true },
  )

it('makes the same events as before of a batch of its own schema', () =>
  holdsFor((batch) => submittedMessage(shop, batch, ownId)))

it('makes the same events as before of a batch that an older edge wrote', () =>
  holdsFor((batch) => Buffer.concat([headerOf(olderId), older.toBuffer(batch)])))

it('makes the same events as before of records that lie in several blocks, each with its size', () => {
  const at = schema.fields.findIndex(({ name }) => name === 'records')
  const [head, tail] = [withFields(schema.fields.slice(0, at)), withFields(schema.fields.slice(at + 1))]
  const record = avro.Type.forSchema(schema.fields[at]?.type.items as unknown as avro.Schema)
  const long = avro.Type.forSchema('long')
  return holdsFor((batch) => {
    const blocks = batch.records.flatMap((one) => {
      const bytes = record.toBuffer(one)
      return [long.toBuffer(-1), long.toBuffer(bytes.length), bytes]
    })
    return Buffer.concat([headerOf(ownId), head.toBuffer(batch), ...blocks, long.toBuffer(0), tail.toBuffer(batch)])
  })
})

// A batch of one shop whose name is XYZ, with other bytes in the place of the name.
const name = Buffer.from([6, ...Buffer.from('XYZ')])
const oneShop = (written: readonly number[]): Buffer => {
  const message = submittedMessage(shop, batchOf(shop, [sampleOf(shop, { name: 'XYZ' })]), ownId)
  const at = message.indexOf(name)
  return Buffer.concat([message.subarray(0, at), Buffer.from(written), message.subarray(at + name.length)])
}
const verdict = { decided_at: 5, submitted_offset: 3, refused: [], repeated: [] } as unknown as PlacedVerdict

it.each([
  ['a length with an idle digit', [0x86, 0, 88, 89, 90]],
  ['text that is no UTF-8', [6, 88, 0xc3, 90]],
  ['half a character', [2, 0xe6]],
  ['a lone surrogate', [6, 0xed, 0xa0, 0x80]],
])('makes of %s the events that it made before', async (_, written) => {
  const message = oneShop(written)
  expect(await eventsOf(message, verdict)).toEqual(expectedOf(message, verdict))
})

it.each([
  ['not in the wire format', Buffer.from('{"a": 1}')],
  ['cut off', submittedMessage(shop, batchOf(shop, [sampleOf(shop)]), ownId).subarray(0, -1)],
  ['followed by something', Buffer.concat([submittedMessage(shop, batchOf(shop, [sampleOf(shop)]), ownId), name])],
  ['said to hold more than it does', oneShop([0x80, 0x80, 0x80, 0x80, 0x10])],
  ['in want of a length', oneShop([5])],
])('sets a message aside that is %s', async (_, message) => {
  await expect(read(message)).rejects.toThrow(Undecodable)
})

it('stops at a message of a newer schema', async () => {
  await expect(read(submittedMessage(shop, batchOf(shop, []), newerId))).rejects.toThrow(NewerSchema)
})
