import { randomUUID } from 'node:crypto'
import type { Field } from '#schemas/field.js'
import type { RecordType } from '#schemas/record.js'

/** A record of any type that the validator takes: every field, or only the required ones; `over` replaces some. */
export const sampleOf = (
  type: RecordType,
  over: Record<string, unknown> = {},
  options: { onlyRequired?: boolean } = {},
): Record<string, unknown> => {
  const fields = Object.entries(type.fields).filter(([, field]) => field.required || !options.onlyRequired)
  return { ...Object.fromEntries(fields.map(([name, field]) => [name, sampleValue(name, field)])), ...over }
}

const sampleValue = (name: string, field: Field): unknown => {
  switch (field.kind) {
    case 'uuid':
    case 'reference':
    case 'item':
      return randomUUID()
    case 'text':
      return `a ${name} with ümlauts, "quotes" and 漢字`
    case 'country':
      return 'gb'
    case 'number':
      return 12.5
    case 'boolean':
      return name !== 'is_deleted'
    case 'choice':
      return field.of[0]
    case 'instant':
      return '2024-05-31T12:30:15.123+02:00'
    case 'moment':
      return 1_717_151_415
    case 'date':
      return '2001-02-28'
    default:
      return field satisfies never
  }
}

/** Values that no field of this kind takes, each with the code that it must be refused with. */
export const badValuesOf = (field: Field): [value: unknown, code: string][] => {
  const notText: [unknown, string][] = [7, true, {}, []].map((value) => [value, 'wrong_type'])
  switch (field.kind) {
    case 'uuid':
    case 'reference':
    case 'item':
      return [
        ...notText,
        ['', 'bad_format'],
        ['not-a-uuid', 'bad_format'],
        ['3f2b8c1e9d4a4e7f8a1b2c3d4e5f6a7b', 'bad_format'],
        ['3f2b8c1e-9d4a-4e7f-8a1b-2c3d4e5f6a7g', 'bad_format'],
      ]
    case 'text':
      return [
        ...notText,
        ['x'.repeat((field.longest ?? 4096) + 1), 'out_of_range'],
        ['a\u0000b', 'bad_format'],
        ['a\ud800b', 'bad_format'],
        ...(field.required ? ([['  ', 'bad_format']] as [unknown, string][]) : []),
      ]
    case 'country':
      return [...notText, ['GBR', 'bad_format'], ['G1', 'bad_format'], ['', 'bad_format']]
    case 'number':
      return [
        ['1', 'wrong_type'],
        [true, 'wrong_type'],
        [[1], 'wrong_type'],
        [Number.POSITIVE_INFINITY, 'out_of_range'],
        [2 ** 53, 'out_of_range'],
        ...(field.above === undefined ? [] : ([[field.above, 'out_of_range']] as [unknown, string][])),
        ...(field.min === undefined ? [] : ([[field.min - 0.001, 'out_of_range']] as [unknown, string][])),
        ...(field.max === undefined ? [] : ([[field.max + 0.001, 'out_of_range']] as [unknown, string][])),
      ]
    case 'boolean':
      return ['true', 1, 0, {}].map((value) => [value, 'wrong_type'])
    case 'choice':
      return [...notText, ['NOPE', 'not_one_of'], [field.of[0]?.toLowerCase(), 'not_one_of']]
    case 'instant':
      return [
        ...notText,
        ['2024-05-31', 'bad_format'],
        ['2024-02-30T00:00:00Z', 'bad_format'],
        ['2024-19-39T00:00:00Z', 'bad_format'],
        ['2024-05-31T24:00:00Z', 'bad_format'],
        ['yesterday', 'bad_format'],
        ['1850-01-01T00:00:00Z', 'out_of_range'],
      ]
    case 'moment':
      return [
        [true, 'wrong_type'],
        [0, 'out_of_range'],
        [-5, 'out_of_range'],
        [1.5, 'bad_format'],
        ['1717151415', 'bad_format'],
        ['2023-02-29T00:00:00Z', 'bad_format'],
        [2 ** 53, 'out_of_range'],
      ]
    case 'date':
      return [
        ...notText,
        ['2023-02-29', 'bad_format'],
        ['01-02-2003', 'bad_format'],
        ['2024-05-31T00:00:00Z', 'bad_format'],
        ['1850-01-01', 'out_of_range'],
      ]
    default:
      return field satisfies never
  }
}
