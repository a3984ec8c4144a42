import { errors, json, ref } from './answers.js'
import type { Schema } from './record-schema.js'

// What the console reads, as documented; whatever the page shows, this interface has.

const object = (properties: Schema, optional: string[] = []): Schema => ({
  type: 'object',
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  properties,
})
const text = (description: string): Schema => ({ type: 'string', description })
const list = (items: Schema, description?: string): Schema => ({
  type: 'array',
  items,
  ...(description && { description }),
})
const snippets = (...languages: string[]): Schema =>
  object(Object.fromEntries(languages.map((language) => [language, { type: 'string' }])))

const reading = (operationId: string, summary: string, description: string, schema: Schema): Schema => ({
  tags: ['reference'],
  operationId,
  summary,
  description,
  responses: { 200: json(summary, schema), ...errors(400, 401, 403, 405, 429, 431, 500, 503) },
})

/** The paths that any key may read. */
export const referencePaths: Record<string, Schema> = {
  '/v1/me': {
    get: reading('read-me', 'Whose key this is', 'Any key may ask.', ref('Me')),
  },
  '/v1/types': {
    get: reading(
      'list-types',
      'Every type, with its fields',
      'From the catalogue: what is asked of each field, what refers to what, and an upload to copy. Any key may ask.',
      object({ types: list(ref('TypeReference')) }),
    ),
  },
  '/v1/topics': {
    get: reading(
      'list-topics',
      'Every public topic',
      'What downstream teams can subscribe to: key, Avro schema, partitions, what is promised, and a consumer to copy. Any key may ask.',
      object({ topics: list(ref('TopicReference')) }),
    ),
  },
}

/** The objects in their answers. */
export const referenceSchemas = (types: string[]): Record<string, Schema> => ({
  Me: object({
    org_id: text('the organisation'),
    key_id: { type: ['string', 'null'] },
    scopes: { type: ['array', 'null'], items: { type: 'string' }, description: 'null: all of them' },
    is_operator: { type: 'boolean' },
  }),
  TypeReference: object({
    type: { type: 'string', enum: types },
    id: text('the field that identifies a record'),
    about: { type: 'string' },
    limit: { type: 'integer', minimum: 1, description: 'how many records one request may carry' },
    fields: list(
      object(
        {
          name: { type: 'string' },
          kind: text('what kind of value it holds'),
          required: { type: 'boolean' },
          about: { type: 'string' },
          max_length: { type: 'integer' },
          choices: list({ type: 'string' }),
          to: text('the type of the record that must exist'),
          by: text('the field that says of which type that record is'),
          kinds: { type: 'object', additionalProperties: { type: 'string' } },
          above: { type: 'number' },
          min: { type: 'number' },
          max: { type: 'number' },
        },
        ['max_length', 'choices', 'to', 'by', 'kinds', 'above', 'min', 'max'],
      ),
    ),
    references: list(object({ field: { type: 'string' }, to: { type: 'string', enum: types } })),
    example: { type: 'object', description: 'a record that is taken' },
    snippets: snippets('curl', 'typescript', 'python', 'csv'),
  }),
  TopicReference: object({
    name: { type: 'string' },
    type: { type: ['string', 'null'], description: 'null where it holds records of every type' },
    key: text('what the key of a message is made of'),
    about: { type: 'string' },
    retention: text('how long events are kept'),
    partitions: { type: 'integer', minimum: 1 },
    cleanup: text("Kafka's word for what happens to old events"),
    promises: list({ type: 'string' }, 'what holds for order and duplicates'),
    schema: { type: 'object', description: 'the Avro schema of the values' },
    snippets: snippets('typescript', 'python', 'java'),
  }),
})
