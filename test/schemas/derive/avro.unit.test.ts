import avro from 'avsc'
import { describe, expect, it } from 'vitest'
import { catalogue } from '#schemas/catalogue.js'
import { acceptedSchema, rejectedSchema, submittedSchema, verdictSchema } from '#schemas/derive/avro.js'
import { batchOf, refusalOf } from '../../support/batch.js'
import { sampleOf } from '../../support/sample.js'

const roundTrip = (schema: unknown, value: unknown) => {
  const type = avro.Type.forSchema(schema as avro.Schema)
  return type.fromBuffer(type.toBuffer(value))
}

describe.each([...catalogue.all.values()])('$type', (type) => {
  it('carries a submitted batch unchanged, records and refusals', () => {
    const batch = batchOf(type, [sampleOf(type), sampleOf(type, {}, { onlyRequired: true })], {
      refusals: [refusalOf(2), refusalOf(3, 'x')],
      gathered: true,
      keyed_requests: [{ index: 1, request_id: 'of a key' }],
    })
    expect(roundTrip(submittedSchema(type), batch)).toEqual(batch)
  })

  it('reads a batch that was written before batches said whether they were gathered, and with which keys', () => {
    const schema = submittedSchema(type) as unknown as { fields: { name: string }[] }
    const before = avro.Type.forSchema({
      ...schema,
      fields: schema.fields.filter(({ name }) => !['gathered', 'keyed_requests'].includes(name)),
    } as unknown as avro.Schema)
    const now = avro.Type.forSchema(schema as unknown as avro.Schema)
    const batch = batchOf(type, [sampleOf(type)])
    const read = now.fromBuffer(before.toBuffer(batch), now.createResolver(before))
    expect(read).toEqual({ ...batch, gathered: false, keyed_requests: [] })
    // The other way round, during an upgrade: an old integrity reads what a new edge writes.
    const written = now.toBuffer({ ...batch, gathered: true, keyed_requests: [{ index: 0, request_id: 'of a key' }] })
    expect(before.fromBuffer(written, before.createResolver(now))).toEqual(batch)
  })

  it('gives an accepted event its metadata first, then the fields under their own names', () => {
    const { fields } = acceptedSchema(type) as unknown as { fields: { name: string }[] }
    expect(fields.map(({ name }) => name)).toEqual([
      'org_id',
      'request_id',
      'batch_id',
      'accepted_at',
      'version',
      ...Object.keys(type.assigned),
      ...Object.keys(type.fields),
    ])
  })
})

it('compiles the schemas of rejections and verdicts', () => {
  for (const schema of [rejectedSchema(), verdictSchema()])
    expect(() => avro.Type.forSchema(schema as avro.Schema)).not.toThrow()
})
