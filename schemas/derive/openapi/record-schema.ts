import { countriesPattern } from '../../countries.js'
import type { Schema } from '../../endpoints/values.js'
import type { Field } from '../../field.js'
import { personWordsOf } from '../../persons/about-persons.js'
import { columnsOf, type RecordType } from '../../record.js'
import { derivedId } from '../../uuid.js'
import { fieldVersions } from '../type-reference/field-versions.js'
import { sinceOf } from '../type-reference/since.js'
import { longestText } from '../value-reader.js'

/** A record as an uploader sends it. */
export const recordSchema = (type: RecordType, versions = fieldVersions): Schema => ({
  type: 'object',
  description: type.about,
  additionalProperties: false,
  required: namesOf(type, (field) => field.required),
  properties: Object.fromEntries(
    Object.entries(type.fields).map(([name, field]) => [
      name,
      withSince(fieldSchema(field), sinceOf(versions, type.type, name)),
    ]),
  ),
  examples: [exampleOf(type)],
})

/** A field that came after the first release says so: an older client does not know it. */
const withSince = (schema: Schema, since: string | null | undefined): Schema => {
  if (since === undefined) return schema
  const words = since === null ? 'new, in no release yet' : `since ${since}`
  return { ...schema, description: [schema.description, words].filter(Boolean).join('; ') }
}

/** A record of this type that the validator takes. Uploaded type by type, the examples refer to one another. */
export const exampleOf = (type: RecordType): Schema =>
  Object.fromEntries(Object.entries(type.fields).map(([name, field]) => [name, exampleValue(type, name, field)]))

/** The same with nothing but what is required. */
export const shortExampleOf = (type: RecordType): Schema =>
  Object.fromEntries(namesOf(type, (field) => field.required).map((name) => [name, exampleOf(type)[name]]))

const exampleValue = (type: RecordType, name: string, field: Field): unknown => {
  if (name === type.id) return exampleId(type.type)
  if (field.kind === 'reference') return exampleId(field.to)
  // The example of a choice is its first value, so the item is of the first kind.
  if (field.kind === 'item') return exampleId(Object.values(field.kinds)[0] ?? '')
  return valueSchema(field).examples[0]
}

// An id of its own for each type: an example that is tried out must not replace a record that somebody has made.
const exampleId = (type: string): string => derivedId('example', type)

export const fieldSchema = (field: Field): Schema => {
  const { about, ...schema } = valueSchema(field)
  const description = [field.about, about, personWordsOf(field)].filter(Boolean).join('; ')
  return { ...(field.required ? schema : nullable(schema)), ...(description && { description }) }
}

const nullable = (schema: Schema): Schema => ({
  ...schema,
  type: [schema.type, 'null'].flat(),
  ...(Array.isArray(schema.enum) && { enum: [...schema.enum, null] }),
})

const uuidSchema = { type: 'string', format: 'uuid', examples: [derivedId('example')] }
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
        maxLength: field.longest ?? longestText,
        ...(field.required && { minLength: 1, pattern: '\\S' }),
        examples: ['text'],
      }
    case 'country':
      return {
        type: 'string',
        pattern: countriesPattern,
        examples: ['GB'],
        about: 'of ISO 3166; lower case is taken too',
      }
    case 'number': {
      const { above, min, max } = field
      const range = {
        ...(above === undefined ? { minimum: min ?? Number.MIN_SAFE_INTEGER } : { exclusiveMinimum: above }),
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
export const storedSchema = (type: RecordType): Schema<object> => {
  const columns = Object.entries(columnsOf(type))
  const iso = (field: Field): Field => (field.kind === 'moment' ? { ...field, kind: 'instant' } : field)
  return {
    type: 'object',
    required: columns.map(([name]) => name),
    properties: Object.fromEntries(columns.map(([name, field]) => [name, fieldSchema(iso(field))])),
  }
}
