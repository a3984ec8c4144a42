import { answered, endpoint } from './endpoint.js'
import * as v from './values.js'

// What any key may read: whose it is, and which types there are.

const me = v.named('Me', {
  org_id: v.text('the organisation'),
  key_id: v.nullable(v.text()),
  scopes: v.nullable(v.list(v.text()), 'null: all of them'),
  is_operator: v.flag(),
})

export const readMe = endpoint('GET', '/v1/me', 'read-me', 'reference', {
  summary: 'Whose key this is',
  answers: answered('Whose key this is', me),
})

const texts: v.Schema<Readonly<Record<string, string>>> = { type: 'object', additionalProperties: { type: 'string' } }

const field = v.named('FieldReference', {
  name: v.text(),
  kind: v.text('what kind of value it holds'),
  required: v.flag(),
  about: v.text(),
  max_length: v.optional(v.integer(1)),
  choices: v.optional(v.list(v.text())),
  to: v.optional(v.text('the type of the record that must exist')),
  by: v.optional(v.text('the field that says of which type that record is')),
  kinds: v.optional(texts),
  above: v.optional(v.number),
  min: v.optional(v.number),
  max: v.optional(v.number),
  since: v.optional(
    v.nullable(
      v.text(),
      'the version that it came with, null where it is in no release yet; left out where every release has had it',
    ),
  ),
  of_person: v.optional(
    v.oneOf(['personal', 'pseudonym'], {
      description: '`pseudonym`: it names a person. `personal`: it says something of the person whom the record names',
    }),
  ),
})

const typeReference = v.named('TypeReference', {
  type: v.recordType,
  id: v.text('the field that identifies a record'),
  about: v.text(),
  limit: v.integer(1, 'how many records one request may carry'),
  fields: v.list(field),
  references: v.list(v.object({ field: v.text(), to: v.recordType })),
  example: v.anyObject('a record that is taken'),
  snippets: v.object({ curl: v.text(), typescript: v.text(), python: v.text(), csv: v.text() }),
})

export const listTypes = endpoint('GET', '/v1/types', 'list-types', 'reference', {
  summary: 'Every type, with its fields',
  about: 'From the catalogue: what is asked of each field, what refers to what, and an upload to copy.',
  answers: answered('Every type, with its fields', v.object({ types: v.list(typeReference) })),
})
