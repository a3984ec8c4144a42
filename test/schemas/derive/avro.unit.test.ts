import avro from 'avsc'
import { describe, expect, it } from 'vitest'
import { catalogue } from '#schemas/catalogue.js'
import { acceptedSchema, rejectedSchema, submittedSchema, verdictSchema, waitingSchema } from '#schemas/derive/avro.js'
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
      wait_until: Date.UTC(2026, 0, 2),
      key_id: 'k7f3a9c1',
      resumed: [
        {
          index: 0,
          request_id: 'r',
          batch_id: 'b',
          place: 3,
          request_index: 503,
          version: 2 ** 45,
          since: 1,
          until: 2,
        },
      ],
    })
    expect(roundTrip(submittedSchema(type), batch)).toEqual(batch)
  })

  it('reads a batch that was written before batches were gathered, had keys, could wait, or named the API key', () => {
    const schema = submittedSchema(type) as unknown as { fields: { name: string }[] }
    const later = { gathered: false, keyed_requests: [], wait_until: null, resumed: [], key_id: null }
    const before = avro.Type.forSchema({
      ...schema,
      fields: schema.fields.filter(({ name }) => !(name in later)),
    } as unknown as avro.Schema)
    const now = avro.Type.forSchema(schema as unknown as avro.Schema)
    const batch = batchOf(type, [sampleOf(type)])
    const read = now.fromBuffer(before.toBuffer(batch), now.createResolver(before))
    expect(read).toEqual({ ...batch, ...later })
    // The other way round, during an upgrade: an old integrity reads what a new edge writes.
    const written = now.toBuffer({
      ...batch,
      gathered: true,
      keyed_requests: [{ index: 0, request_id: 'of a key' }],
      key_id: 'k7f3a9c1',
    })
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

it('compiles the schemas of rejections, verdicts and waiting records', () => {
  for (const schema of [rejectedSchema(), verdictSchema(), waitingSchema()])
    expect(() => avro.Type.forSchema(schema as avro.Schema)).not.toThrow()
})
