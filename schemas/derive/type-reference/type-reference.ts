import type { Catalogue } from '../../catalogue.js'
import type { AnswerOf } from '../../endpoints/endpoint.js'
import type { listTypes } from '../../endpoints/reference.js'
import type { Field } from '../../field.js'
import { formOf } from '../../persons/about-persons.js'
import type { RecordType } from '../../record.js'
import { exampleOf } from '../openapi/record-schema.js'
import { longestText } from '../value-reader.js'
import { fieldVersions } from './field-versions.js'
import { sinceOf } from './since.js'
import { snippetsOf } from './snippets.js'

/** A type as people read about it: its fields with what is asked of each, what it refers to, and an upload of it to copy. */
export type TypeReference = AnswerOf<typeof listTypes>['types'][number]
export type FieldReference = TypeReference['fields'][number]
/** What is asked of a value, beyond its kind. */
type Constraints = Omit<FieldReference, 'name' | 'kind' | 'required' | 'about' | 'since' | 'of_person'>

/** `url` is the address of the edge, for the snippets. */
export const typeReferencesOf = (catalogue: Catalogue, url: string, versions = fieldVersions): TypeReference[] =>
  [...catalogue.all.values()].map((type) => ({
    type: type.type,
    id: type.id,
    about: type.about,
    limit: type.limit,
    fields: Object.entries(type.fields).map(([name, field]) => ({
      name,
      kind: field.kind,
      required: field.required,
      about: field.about,
      ...constraintsOf(field),
      ...sinceWhen(sinceOf(versions, type.type, name)),
      ...ofPerson(field),
    })),
    references: referencesOf(type),
    example: exampleOf(type),
    snippets: snippetsOf(type, url),
  }))

const sinceWhen = (since: string | null | undefined) => (since === undefined ? {} : { since })
const ofPerson = (field: Field): Pick<FieldReference, 'of_person'> => {
  const form = formOf(field)
  return form ? { of_person: form } : {}
}

const constraintsOf = (field: Field): Constraints => {
  switch (field.kind) {
    case 'text':
      return { max_length: field.longest ?? longestText }
    case 'choice':
      return { choices: field.of }
    case 'reference':
      return { to: field.to }
    case 'item':
      return { by: field.by, kinds: field.kinds }
    case 'number': {
      const { above, min, max } = field
      return {
        ...(above !== undefined && { above }),
        ...(min !== undefined && { min }),
        ...(max !== undefined && { max }),
      }
    }
    case 'uuid':
    case 'country':
    case 'boolean':
    case 'instant':
    case 'moment':
    case 'date':
      return {}
    default:
      return field satisfies never
  }
}

const referencesOf = (type: RecordType): { field: string; to: string }[] =>
  Object.entries(type.fields).flatMap(([name, field]) => {
    if (field.kind === 'reference') return [{ field: name, to: field.to }]
    return field.kind === 'item' ? Object.values(field.kinds).map((to) => ({ field: name, to })) : []
  })
