import fc from 'fast-check'
import { expect, it } from 'vitest'
import { changedRecord } from '#rejections/changed-record.js'

const anyRecord = fc.dictionary(fc.string(), fc.jsonValue())

it('changes one field, as parsing and writing again would', () => {
  fc.assert(
    fc.property(anyRecord, fc.string(), fc.jsonValue(), fc.nat(2), (record, other, to, spaces) => {
      for (const field of [other, ...Object.keys(record)]) {
        const json = JSON.stringify(record, null, spaces)
        const { [field]: _, ...rest } = record
        // JSON writes -0 as 0.
        expect(JSON.parse(changedRecord(json, { field }))).toEqual(JSON.parse(JSON.stringify(rest)))
        expect(JSON.parse(changedRecord(json, { field, to }))).toEqual(
          JSON.parse(JSON.stringify({ ...rest, [field]: to })),
        )
      }
    }),
  )
})

it.each([
  ['{"a":1e400,"b":-0,"c":"x"}', '{"a":1e400,"b":-0,"c":"y"}'],
  ['{"c":"x","a":{"c":[1,"}"]},"c":"z"}', '{"a":{"c":[1,"}"]},"c":"y"}'],
  ['{"\\u0063":1}', '{"c":"y"}'],
  ['{}', '{"c":"y"}'],
  ['[1]', '[1]'],
])('leaves everything else of %s as it was written', (json, changed) =>
  expect(changedRecord(json, { field: 'c', to: 'y' })).toBe(changed),
)
