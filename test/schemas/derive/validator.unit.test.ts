import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { catalogue } from '#schemas/catalogue.js'
import { createValidator, type Validated } from '#schemas/derive/validator.js'
import { createRecordWriter } from '#schemas/derive/written-record.js'
import { offer } from '#schemas/records/offer.js'
import { badValuesOf, sampleOf } from '../../support/sample.js'

const problemsOf = (validated: Validated) => ('problems' in validated ? validated.problems : [])
const codesOf = (validated: Validated) => problemsOf(validated).map(({ field, code }) => [field, code])

describe.each([...catalogue.all.values()])('$type', (type) => {
  const validate = createValidator(type)

  it('takes all fields, and only the required ones', () => {
    expect(validate(sampleOf(type))).toHaveProperty('values')
    expect(validate(sampleOf(type, {}, { onlyRequired: true }))).toHaveProperty('values')
  })

  it.each(Object.entries(type.fields))('refuses bad values of %s', (name, field) => {
    for (const [value, code] of badValuesOf(field)) {
      expect(codesOf(validate(sampleOf(type, { [name]: value }))), JSON.stringify(value)).toEqual([[name, code]])
    }
  })

  it.each(Object.entries(type.fields))('%s: null is the same as absent', (name, field) => {
    const { [name]: _, ...without } = sampleOf(type)
    expect(validate(without)).toEqual(validate({ ...without, [name]: null }))
    expect(codesOf(validate(without))).toEqual(field.required ? [[name, 'missing_field']] : [])
  })

  it('writes back what it read', () => {
    const write = createRecordWriter(type)
    const first = validate(sampleOf(type))
    if (!('values' in first)) throw new Error('refused')
    expect(validate(write(first.values))).toEqual(first)
  })
})

describe('a record', () => {
  const type = catalogue.uploads.get('shops')
  if (!type) throw new Error('no shops')
  const validate = createValidator(type)

  it('is an object', () => {
    for (const given of [null, 1, 'x', [], [{}], true]) expect(codesOf(validate(given))).toEqual([[null, 'wrong_type']])
  })

  it('has no unknown fields; the nearest known name is told', () => {
    const validated = validate(sampleOf(type, { nmae: 'x', __proto: 1, org_id: 'acme' }))
    expect(codesOf(validated)).toEqual([
      ['nmae', 'unknown_field'],
      ['__proto', 'unknown_field'],
      ['org_id', 'unknown_field'],
    ])
    expect(problemsOf(validated)[0]?.message).toBe('nmae is not a field of shops; did you mean name?')
  })

  it('is not fooled by __proto__ or constructor', () => {
    const given = JSON.parse('{"__proto__": {"name": "x"}, "constructor": {"prototype": {}}, "region": "GB"}')
    expect(codesOf(validate(given))).toEqual([
      ['shop_id', 'missing_field'],
      ['name', 'missing_field'],
      ['__proto__', 'unknown_field'],
      ['constructor', 'unknown_field'],
    ])
  })

  it('tells all problems at once, but not a thousand', () => {
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`field_${i}`, i]))
    expect(problemsOf(validate(many))).toHaveLength(21)
  })

  it('keeps ids in lower case, regions in upper case, times in UTC', () => {
    const validated = validate(
      sampleOf(type, {
        shop_id: '3F2B8C1E-9D4A-4E7F-8A1B-2C3D4E5F6A7B',
        region: 'gb',
        created: '2024-05-31T12:30:15.1239+02:00',
        updated: '2024-05-31T12:30',
      }),
    )
    expect(validated).toMatchObject({
      values: {
        shop_id: '3f2b8c1e-9d4a-4e7f-8a1b-2c3d4e5f6a7b',
        region: 'GB',
        created: Date.UTC(2024, 4, 31, 10, 30, 15, 123),
        updated: Date.UTC(2024, 4, 31, 12, 30),
      },
    })
  })

  it('never throws, and either takes a record whole or says why not', () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true, withSparseArray: true, withBigInt: true }), (given) => {
        expect(problemsOf(validate(given)).length).toBeGreaterThan(0)
      }),
    )
  })

  it('reads any instant that JavaScript writes', () => {
    const instants = fc.date({
      min: new Date('1900-01-01T00:00:00Z'),
      max: new Date('2299-12-31T23:59:59.999Z'),
      noInvalidDate: true,
    })
    fc.assert(
      fc.property(instants, (at) => {
        expect(validate(sampleOf(type, { created: at.toISOString() }))).toMatchObject({
          values: { created: at.getTime() },
        })
      }),
    )
  })
})

it('takes as many allowed branches as one upload brings, and a usual text in every other field', () => {
  const validate = createValidator(offer)
  const branches = Array.from({ length: 5000 }, () => randomUUID()).join(', ')
  expect(validate(sampleOf(offer, { allowed_branches: branches }))).toHaveProperty('values.allowed_branches', branches)
  for (const [field, given] of [
    ['allowed_branches', 'x'.repeat(190_001)],
    ['allowed_days', 'x'.repeat(4097)],
  ] as const)
    expect(validate(sampleOf(offer, { [field]: given }))).toMatchObject({ problems: [{ field, code: 'out_of_range' }] })
})
