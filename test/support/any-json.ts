import fc from 'fast-check'
import type { Field } from '#schemas/field.js'
import type { RecordType } from '#schemas/record.js'
import { badValuesOf, sampleOf } from './sample.js'

// JSON texts of records as clients may write them: good, bad, and in every spelling that JSON allows or just does not allow.

/** Always the first, or rarely one of the others. */
const mostly = (usual: fc.Arbitrary<string>, ...others: fc.Arbitrary<string>[]) =>
  fc.oneof({ weight: 12, arbitrary: usual }, ...others.map((arbitrary) => ({ weight: 1, arbitrary })))

const blank = mostly(fc.constant(''), fc.constantFrom(' ', '\n\t', '\r\n  ', '\u00a0'))

/** One character within quotes, as it is or escaped. */
const character = mostly(
  fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 8 }).map((text) => JSON.stringify(text).slice(1, -1)),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }).map((text) => JSON.stringify(text).slice(1, -1)),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }).map(byNumber),
  fc.constantFrom(' ', '\\/', '\\b\\f\\n\\r\\t', '\\"', '\\u3000', '\u3000', '\\ud83d\\ude00', '\\uD83D\\uDE00'),
  fc.constantFrom('\\x', '\\u12', '\\u00g0', '\\ud83d', '\\ude00', '\\u0000', '\u0001', '\u007f', '\\ud83d\\u0041'),
)

/** Every unit of a text as \uXXXX, in either case. */
function byNumber(text: string): string {
  const digits = [...text].flatMap((_, i) => text.charCodeAt(i).toString(16).padStart(4, '0'))
  return digits.map((four, i) => `\\u${i % 2 === 0 ? four : four.toUpperCase()}`).join('')
}

const anyString = mostly(
  fc.array(character, { maxLength: 12 }).map((characters) => `"${characters.join('')}"`),
  fc
    .tuple(fc.constantFrom('x', '漢', '𝒳', '\\n', '\\u00e9'), fc.constantFrom(1023, 1024, 2048, 4095, 4096, 4097))
    .map(([unit, times]) => `"${unit.repeat(times)}"`),
)

const anyNumber = fc.oneof(
  fc.double({ noDefaultInfinity: true, noNaN: true }).map((value) => JSON.stringify(value)),
  fc.stringMatching(/^-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,17})?([eE][+-]?[0-9]{1,3})?$/),
  fc.constantFrom(
    '-0',
    '0e1',
    '1e-400',
    '-1e-400',
    '1e400',
    '01',
    '1.',
    '.5',
    '-',
    '1e',
    '1e+',
    '+1',
    '9007199254740993',
  ),
  fc.constantFrom(`0.${'0'.repeat(330)}1`, `1${'0'.repeat(500)}`, '0.1e1', '123456789012345.6', '0x10', 'NaN'),
)

const anyInstant = fc.oneof(
  fc.stringMatching(
    /^(18|19|20|22|23)[0-9]{2}-[01][0-9]-[0-3][0-9][Tt][0-2][0-9]:[0-6][0-9](:[0-6][0-9]([.,][0-9]{1,10})?)?([Zz]|[+-][0-2][0-9](:?[0-6][0-9])?)?$/,
  ),
  fc
    .date({ noInvalidDate: true, min: new Date('1899-12-30T00:00:00Z'), max: new Date('2300-01-02T00:00:00Z') })
    .map((date) => date.toISOString()),
)
const anyDate = fc.oneof(
  fc.stringMatching(/^(18|19|20|22|23)[0-9]{2}-[01][0-9]-[0-3][0-9]$/),
  anyInstant.map((instant) => instant.slice(0, 10)),
)
const anyUuid = fc.oneof(
  fc.uuid(),
  fc.uuid().map((id) => id.toUpperCase()),
  fc.uuid().map((id) => `${id.slice(1)}g`),
)

const quoted = (text: fc.Arbitrary<string>) => text.map((given) => JSON.stringify(given))

const ofKind = (field: Field): fc.Arbitrary<string> => {
  switch (field.kind) {
    case 'uuid':
    case 'reference':
    case 'item':
      return quoted(anyUuid)
    case 'text':
      return anyString
    case 'country':
      return quoted(fc.stringMatching(/^[@-z]{2}$/))
    case 'number':
      return anyNumber
    case 'boolean':
      return fc.constantFrom('true', 'false', 'True', 'tru', '0')
    case 'choice':
      return quoted(fc.constantFrom(...field.of, `${field.of[0]}S`))
    case 'instant':
      return quoted(anyInstant)
    case 'moment':
      return fc.oneof(quoted(anyInstant), anyNumber, fc.integer().map(String))
    case 'date':
      return quoted(anyDate)
    default:
      return field satisfies never
  }
}

const oddValue = (field: Field): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 6, arbitrary: ofKind(field) },
    fc.constantFrom(...badValuesOf(field).map(([value]) => JSON.stringify(value))),
    fc.constantFrom('null', 'nul', '{}', '[1, {"a": 2}]', '"', ''),
    anyString,
  )

/** The JSON of a record of this type: usually a good one. */
export const anyRecordText = (type: RecordType): fc.Arbitrary<string> => {
  const fields = Object.entries(type.fields)
  const names = fields.map(([name]) => name)
  const optional = fields.flatMap(([name, field]) => (field.required ? [] : [name]))
  // A sample in which up to three values are replaced.
  const odd = fc.record(Object.fromEntries(fields.map(([name, field]) => [name, oddValue(field)])))
  const values = fc.tuple(odd, fc.subarray(names, { maxLength: 3 })).map(([given, replaced]) => {
    const usual = Object.entries(sampleOf(type)).map(([name, value]) => [name, JSON.stringify(value)])
    return { ...Object.fromEntries(usual), ...Object.fromEntries(replaced.map((name) => [name, given[name]])) }
  })
  const order = fc.oneof(
    fc.constant(names),
    fc.shuffledSubarray(names, { minLength: names.length }),
    fc.subarray(optional).map((left) => names.filter((name) => !left.includes(name))),
    fc.shuffledSubarray(names),
  )
  const more = mostly(
    fc.constant(''),
    fc.constantFrom(',', ',"unheard_of": 1', ',"__proto__": {}', ',"a": {"b": "}]"}', `,"${names[0]}": null`, ']', '}'),
    fc.constantFrom(`,"\\u0${names[0]?.charCodeAt(0).toString(16).padStart(3, '0')}${names[0]?.slice(1)}": 1`),
  )
  return fc.tuple(values, order, more, blank, blank).map(([given, chosen, added, one, other]) => {
    const written = chosen.map((name) => `${one}"${name}"${other}:${one}${given[name]}${other}`)
    return `{${written.join(',')}${added}}`
  })
}

/** The body of an upload: usually a good one. */
export const anyBodyText = (type: RecordType): fc.Arbitrary<string> => {
  const notARecord = fc.constantFrom('', '7', 'null', '[]', '{}', '"x"', '[{]}', '{"a": {"a": 1, "b": [2, 3]}}')
  const records = fc.array(mostly(anyRecordText(type), notARecord), { maxLength: 6 })
  const around = fc.oneof(
    { weight: 12, arbitrary: fc.constant(['{"records":[', ']}'] as const) },
    fc.constantFrom(
      [' {\n"records" :\t[ ', '\r\n] }\n'] as const,
      ['{"records": [', ']} {}'] as const,
      ['{"records": [', '], "more": 1}'] as const,
      ['{"records": [', '], "records": []}'] as const,
      ['{"a": 1, "records": [', ']}'] as const,
      ['[', ']'] as const,
      ['{"records": [', ']'] as const,
    ),
  )
  return fc
    .tuple(records, around, blank)
    .map(([given, [before, after], space]) => before + given.join(`${space},`) + after)
}

/** The same bytes with, rarely, one of them changed, put in or taken out. */
export const maybeSpoilt = (bytes: fc.Arbitrary<Buffer>): fc.Arbitrary<Buffer> =>
  fc
    .tuple(
      bytes,
      fc.nat(9),
      fc.nat(),
      fc.oneof(fc.nat(255), fc.constantFrom(...Buffer.from('"\\{}[],:0 e')).map(Number)),
    )
    .map(([given, what, anywhere, byte]) => {
      const at = given.length === 0 ? 0 : anywhere % given.length
      if (what > 2) return given
      return Buffer.concat([
        given.subarray(0, at),
        ...(what > 0 ? [Buffer.of(byte)] : []),
        given.subarray(at + (what % 2)),
      ])
    })
