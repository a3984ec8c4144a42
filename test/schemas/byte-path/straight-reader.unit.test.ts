import { isUtf8 } from 'node:buffer'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createAvroBytes } from '#schemas/byte-path/avro-bytes.js'
import { createValuesEncoder } from '#schemas/byte-path/batch-bytes.js'
import { createStraightReader } from '#schemas/byte-path/straight-reader.js'
import { catalogue } from '#schemas/catalogue.js'
import { createValidator } from '#schemas/derive/validator.js'
import { boolean, choice, date, instant, moment, number, optional, text, uuid } from '#schemas/field.js'
import { record } from '#schemas/record.js'
import { findLoss } from '../../../services/edge/body/json-exact.js'
import { anyRecordText, maybeSpoilt } from '../../support/any-json.js'
import { sampleOf } from '../../support/sample.js'

/** Kinds of fields, required and optional, that no uploaded type has. */
const allKinds = record({
  type: 'everything',
  id: 'a',
  about: 'A field of each kind.',
  fields: {
    a: uuid(),
    ab: text('', { longest: 40 }),
    b: moment(),
    c: optional(moment()),
    d: date(),
    e: choice(['ONE', 'TWO']),
    f: optional(choice(['ONE', 'TWO'])),
    g: boolean(),
    h: instant(),
    i: number({ min: -1, max: 100 }),
  },
})
const types = [...catalogue.all.values(), allKinds]

/** The Avro that is read straight from a text, and where the record ends; undefined where the text is left to the validator. */
const straight = (type: (typeof types)[number]) => {
  const read = createStraightReader(type)
  return (json: Buffer): { avro: Buffer; end: number } | undefined => {
    const out = createAvroBytes()
    const end = read(json, 0, out)
    return end < 0 ? undefined : { avro: out.bytes.subarray(out.start, out.at), end }
  }
}

/** What the validator and avsc make of the same text; undefined where it is refused. */
const reference = (type: (typeof types)[number]) => {
  const validate = createValidator(type)
  const encode = createValuesEncoder(type)
  return (json: Buffer): Buffer | undefined => {
    const result = validate(JSON.parse(json.toString()))
    return 'values' in result ? encode(result.values) : undefined
  }
}

describe.each(types)('$type', (type) => {
  const read = straight(type)
  const refer = reference(type)

  it('is read straight where it is written as most clients do, in any order', () => {
    const all = sampleOf(type)
    const required = Object.fromEntries(Object.entries(all).filter(([name]) => type.fields[name]?.required))
    const nulls = Object.fromEntries(Object.keys(all).map((name) => [name, required[name] ?? null]))
    const backwards = Object.fromEntries(Object.entries(all).reverse())
    for (const given of [all, required, nulls, backwards, all]) {
      const json = Buffer.from(JSON.stringify(given, null, given === backwards ? 2 : undefined))
      expect(read(json)).toEqual({ avro: refer(json), end: json.length })
    }
  })

  it('is read straight only where the validator takes it, and becomes the same Avro', () => {
    let taken = 0
    const texts = maybeSpoilt(anyRecordText(type).map((json) => Buffer.from(json))).filter(isUtf8)
    fc.assert(
      fc.property(texts, (json) => {
        const found = read(json)
        if (!found) return
        taken++
        const exactly = json.subarray(0, found.end)
        expect(findLoss(exactly.toString())).toBeUndefined()
        expect(found.avro).toEqual(refer(exactly))
      }),
      { numRuns: 400 },
    )
    expect(taken).toBeGreaterThan(40)
  })
})

it('leaves room for a record of any size, and begins a new piece of memory where the last one is full', () => {
  const offers = catalogue.uploads.get('offers')
  if (!offers) throw new Error('there are no offers')
  const read = createStraightReader(offers)
  const refer = reference(offers)
  const out = createAvroBytes()
  const found: { json: Buffer; avro: Buffer }[] = []
  for (const length of [10, 60_000, 100, 60_000, 190_000, 63, 64, 8191, 8192, 10]) {
    const json = Buffer.from(JSON.stringify(sampleOf(offers, { allowed_branches: `\n${'x'.repeat(length - 1)}` })))
    expect(read(json, 0, out)).toBe(json.length)
    found.push({ json, avro: out.bytes.subarray(out.start, out.at) })
  }
  for (const { json, avro } of found) expect(refer(json)?.equals(avro)).toBe(true)
})
