import { PassThrough } from 'node:stream'
import avro from 'avsc'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { toAvroContainer } from '#platform/avro-container.js'

const schema = {
  type: 'record',
  name: 'Row',
  fields: [
    { name: 'n', type: 'long' },
    { name: 's', type: 'string' },
  ],
}
const type = avro.Type.forSchema(schema as avro.Schema)

// Versions and times. avsc refuses 2^53 - 1, and misreads what lies below -2^52.
const long = fc.integer({ min: -(2 ** 50), max: Number.MAX_SAFE_INTEGER - 1 })

const read = async (container: Buffer): Promise<unknown[]> => {
  const rows: unknown[] = []
  const source = new PassThrough()
  const decoder = source.pipe(new avro.streams.BlockDecoder())
  decoder.on('data', (row) => rows.push({ ...row }))
  const ended = new Promise((resolve, reject) => decoder.on('end', resolve).on('error', reject))
  source.end(container)
  await ended
  return rows
}

it('is read back by any Avro reader, row for row', async () => {
  const rows = fc.array(fc.record({ n: long, s: fc.string({ maxLength: 300 }) }), {
    minLength: 1,
    maxLength: 200,
  })
  await fc.assert(
    fc.asyncProperty(rows, async (given) => {
      const container = toAvroContainer(
        JSON.stringify(schema),
        given.map((row) => type.toBuffer(row)),
      )
      expect(await read(container)).toEqual(given)
    }),
    { numRuns: 30 },
  )
})
