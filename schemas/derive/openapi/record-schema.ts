import type { Field } from '../../field.js'
import { columnsOf, type RecordType } from '../../record.js'
import { longestText } from '../value-reader.js'

export type Schema = { [key: string]: unknown }

/** A record as an uploader sends it. */
export const recordSchema = (type: RecordType): Schema => ({
  type: 'object',
  description: type.about,
  additionalProperties: false,
  required: namesOf(type, (field) => field.required),
  properties: Object.fromEntries(Object.entries(type.fields).map(([name, field]) => [name, fieldSchema(field)])),
  examples: [exampleOf(type)],
})

/** A record of this type that the validator takes. */
export const exampleOf = (type: RecordType): Schema =>
  Object.fromEntries(Object.entries(type.fields).map(([name, field]) => [name, valueSchema(field).examples[0]]))

export const fieldSchema = (field: Field): Schema => {
  const { about, ...schema } = valueSchema(field)
  const description = [field.about, about].filter(Boolean).join('; ')
  return { ...(field.required ? schema : nullable(schema)), ...(description && { description }) }
}

const nullable = (schema: Schema): Schema => ({
  ...schema,
  type: [schema.type, 'null'].flat(),
  ...(Array.isArray(schema.enum) && { enum: [...schema.enum, null] }),
})

const uuidSchema = { type: 'string', format: 'uuid', examples: ['3f2b8c1e-9d4a-4e7f-8a1b-2c3d4e5f6a7b'] }
const instantExample = '2024-05-31T12:00:00Z'

const valueSchema = (field: Field): Schema & { examples: readonly unknown[]; about?: string } => {
  switch (field.kind) {
    case 'uuid':
      return uuidSchema
    case 'reference':
      return { ...uuidSchema, about: `the id of a record of ${field.to} that exists` }
    case 'item':
      return { ...uuidSchema, about: `the id of a record that exists, of the kind that ${field.by} says` }
    case 'text':
      return {
        type: 'string',
        maxLength: longestText,
        ...(field.required && { minLength: 1, pattern: '\\S' }),
        examples: ['text'],
      }
    case 'country':
      return { type: 'string', pattern: '^[A-Za-z]{2}$', examples: ['GB'] }
    case 'number': {
      const { above, min, max } = field
      const range = {
        ...(above !== undefined && { exclusiveMinimum: above }),
        minimum: min ?? Number.MIN_SAFE_INTEGER,
        maximum: max ?? Number.MAX_SAFE_INTEGER,
      }
      return {
        type: 'number',
        format: 'double',
        ...range,
        examples: [Math.min((above ?? min ?? 0) + 12.5, max ?? 12.5)],
      }
    }
    case 'boolean':
      return { type: 'boolean', examples: [false] }
    case 'choice':
      return { type: 'string', enum: field.of, examples: [field.of[0]] }
    case 'instant':
      return {
        type: 'string',
        format: 'date-time',
        about: 'ISO 8601; UTC where no offset is given',
        examples: [instantExample],
      }
    case 'moment':
      return {
        type: ['string', 'integer'],
        format: 'date-time',
        exclusiveMinimum: 0,
        about: 'ISO 8601, or seconds since 1970, or milliseconds from 100 000 000 000 on',
        examples: [instantExample],
      }
    case 'date':
      return { type: 'string', format: 'date', examples: ['2001-02-28'] }
    default:
      return field satisfies never
  }
}

export const namesOf = (type: RecordType, wanted: (field: Field) => boolean): string[] =>
  Object.entries(type.fields).flatMap(([name, field]) => (wanted(field) ? [name] : []))

/** An interaction as it is read back: every field, times as ISO date-times. */
export const storedSchema = (type: RecordType): Schema => {
  const columns = Object.entries(columnsOf(type))
  const iso = (field: Field): Field => (field.kind === 'moment' ? { ...field, kind: 'instant' } : field)
  return {
    type: 'object',
    required: columns.map(([name]) => name),
    properties: Object.fromEntries(columns.map(([name, field]) => [name, fieldSchema(iso(field))])),
  }
}
