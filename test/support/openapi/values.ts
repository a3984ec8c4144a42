import fc, { type Arbitrary } from 'fast-check'
import type { Schema } from '#schemas/endpoints/values.js'

/** The ids that the fuzz uploads first: a generated reference often finds its record. */
export const knownIds = [
  '00000000-0000-4000-8000-00000000f001',
  '00000000-0000-4000-8000-00000000f002',
  '00000000-0000-4000-8000-00000000f003',
]

/** Values that fit a schema of the document. */
export const fitting = (schema: Schema, resolve: (schema: Schema) => Schema): Arbitrary<unknown> => {
  const { type, enum: choices, ...rest } = resolve(schema)
  if (Array.isArray(choices)) return fc.constantFrom(...choices)
  if (Array.isArray(type)) return fc.oneof(...type.map((one) => fitting({ ...rest, type: one }, resolve)))
  switch (type) {
    case undefined:
      return fc.jsonValue()
    case 'null':
      return fc.constant(null)
    case 'boolean':
      return fc.boolean()
    case 'integer':
      return fc.integer({
        min: rest.exclusiveMinimum === 0 ? 1 : Number(rest.minimum ?? 0),
        max: Number(rest.maximum ?? 2 ** 31 - 1),
      })
    case 'number':
      return fc.double({
        min: Number(rest.minimum),
        max: Number(rest.maximum),
        noNaN: true,
        ...(rest.exclusiveMinimum !== undefined && { min: Number(rest.exclusiveMinimum), minExcluded: true }),
      })
    case 'string':
      return text(rest)
    case 'array':
      return fc.array(fitting(rest.items as Schema, resolve), { minLength: Number(rest.minItems ?? 0), maxLength: 3 })
    case 'object': {
      const fields = Object.entries((rest.properties ?? {}) as Record<string, Schema>)
      return fc.record(Object.fromEntries(fields.map(([name, field]) => [name, fitting(field, resolve)])), {
        requiredKeys: (rest.required ?? []) as string[],
      })
    }
    default:
      throw new Error(`the fuzz knows no ${JSON.stringify(schema)}`)
  }
}

const text = ({ format, pattern, minLength }: Schema): Arbitrary<string> => {
  if (format === 'uuid') return fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...knownIds) }, fc.uuid())
  const day = fc.date({ min: new Date('1900-01-02'), max: new Date('2299-12-30'), noInvalidDate: true })
  if (format === 'date-time') return day.map((at) => at.toISOString())
  if (format === 'date') return day.map((at) => at.toISOString().slice(0, 10))
  if (typeof pattern === 'string') return fc.stringMatching(new RegExp(pattern))
  return fc.string({ unit: 'grapheme', minLength: Number(minLength ?? 0), maxLength: 40 })
}

/** JSON values that fit next to nothing: wrong types, numbers at every boundary, texts that break careless programs. */
export const weird: Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(0, -0, -1, 0.1, 2 ** 31, 2 ** 53, 2 ** 53 - 1, -(2 ** 53), 1e11, 1e300, 5e-324, 1.5),
  fc.constantFrom('', ' ', '0', 'true', 'null', 'NaN', '\u0000', '\ud800', '\u202e', '\r\n{}', '\u001b[31m', '%00'),
  fc.constantFrom('__proto__', 'constructor', 'toString', "' or 1=1 --", '{{7*7}}', '../../etc/passwd', '$(x)'),
  fc.constantFrom('2024-02-30T00:00:00Z', '0000-00-00', '2024-05-31T12:00', '9999-12-31T23:59:59Z', 'GBR', 'ß'),
  fc.constantFrom('x'.repeat(4096), 'x'.repeat(4097), '😀'.repeat(4096), '\u0000'.repeat(5000)),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(null, true, false),
)

/** The same JSON with one place of it replaced, removed, or joined by something unknown. */
export const broken = (json: unknown): Arbitrary<unknown> => {
  if (Array.isArray(json) && json.length > 0)
    return fc
      .tuple(fc.nat(json.length - 1), fc.boolean())
      .chain(([at, deeper]) => (deeper ? broken(json[at]) : weird).map((value) => json.with(at, value)))
  if (typeof json !== 'object' || json === null || Object.keys(json).length === 0) return weird
  const given = json as Record<string, unknown>
  return fc.constantFrom(...Object.keys(given)).chain((name) =>
    fc.oneof(
      { weight: 3, arbitrary: broken(given[name]).map((value) => ({ ...given, [name]: value })) },
      fc.constant(Object.fromEntries(Object.entries(given).filter(([other]) => other !== name))),
      fc
        .tuple(fc.oneof(fc.constantFrom('org_id', 'constructor', `${name}s`, ''), fc.string({ unit: 'binary' })), weird)
        .map(([extra, value]) => ({ ...given, [extra]: value })),
    ),
  )
}
