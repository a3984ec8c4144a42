import { endpoint } from './endpoint.js'
import {
  anyObject,
  flag,
  integer,
  list,
  named,
  nullable,
  number,
  object,
  optional,
  recordType,
  type Schema,
  text,
} from './values.js'

// What any key may read: whose it is, and which types there are.

const me = named(
  'Me',
  object({
    org_id: text('the organisation'),
    key_id: nullable(text()),
    scopes: nullable(list(text()), 'null: all of them'),
    is_operator: flag(),
  }),
)

export const readMe = endpoint('GET', '/v1/me', 'read-me', 'reference', {
  summary: 'Whose key this is',
  answers: { 200: { about: 'Whose key this is', schema: me } },
})

const texts: Schema<Readonly<Record<string, string>>> = { type: 'object', additionalProperties: { type: 'string' } }

const field = named(
  'FieldReference',
  object({
    name: text(),
    kind: text('what kind of value it holds'),
    required: flag(),
    about: text(),
    max_length: optional(integer(1)),
    choices: optional(list(text())),
    to: optional(text('the type of the record that must exist')),
    by: optional(text('the field that says of which type that record is')),
    kinds: optional(texts),
    above: optional(number),
    min: optional(number),
    max: optional(number),
  }),
)

const typeReference = named(
  'TypeReference',
  object({
    type: recordType,
    id: text('the field that identifies a record'),
    about: text(),
    limit: integer(1, 'how many records one request may carry'),
    fields: list(field),
    references: list(object({ field: text(), to: recordType })),
    example: anyObject('a record that is taken'),
    snippets: object({ curl: text(), typescript: text(), python: text(), csv: text() }),
  }),
)

export const listTypes = endpoint('GET', '/v1/types', 'list-types', 'reference', {
  summary: 'Every type, with its fields',
  about: 'From the catalogue: what is asked of each field, what refers to what, and an upload to copy.',
  answers: { 200: { about: 'Every type, with its fields', schema: object({ types: list(typeReference) }) } },
})
