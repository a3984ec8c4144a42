import type { Catalogue } from '../catalogue.js'
import type { Field, Person } from '../field.js'
import { columnsOf, type RecordType } from '../record.js'

// What the declarations of the fields say about persons. A record that names a person is about that person, with all of its fields.

/** A field that names the person whom a record is about. */
export type PersonField = { field: string; names: Person; required: boolean }

export const personFieldsOf = (type: Pick<RecordType, 'assigned' | 'fields'>): PersonField[] =>
  Object.entries(columnsOf(type)).flatMap(([field, { ofPerson, required }]) =>
    typeof ofPerson === 'object' ? [{ field, names: ofPerson.names, required }] : [],
  )

/** The types whose records name persons. */
export const typesOfPersons = (catalogue: Catalogue): RecordType[] =>
  [...catalogue.all.values()].filter((type) => personFieldsOf(type).length > 0)

/** Whether a record can stay when the person is taken out of it. A record that has to name somebody would be nobody's: it goes as a whole. */
export const staysWithoutPerson = (type: RecordType): boolean => personFieldsOf(type).every(({ required }) => !required)

/** The fields that say something personal of the person whom a record names. */
export const personalFieldsOf = (type: Pick<RecordType, 'assigned' | 'fields'>): string[] =>
  Object.entries(columnsOf(type)).flatMap(([field, { ofPerson }]) => (ofPerson === 'personal' ? [field] : []))

/** The fields that nobody sees who has no right to see personal data: those that name a person, and those that are personal. */
export const maskedFieldsOf = (type: Pick<RecordType, 'assigned' | 'fields'>): string[] =>
  Object.entries(columnsOf(type)).flatMap(([field, declared]) => (formOf(declared) ? [field] : []))

/** Under which form a field is personal data, if it is any by itself. */
export const formOf = ({ ofPerson }: Pick<Field, 'ofPerson'>): 'pseudonym' | 'personal' | undefined => {
  if (typeof ofPerson === 'object') return 'pseudonym'
  return ofPerson === 'personal' ? 'personal' : undefined
}

/** What a person reads about a field; nothing where it says nothing of a person. */
export const personWordsOf = ({ ofPerson }: Pick<Field, 'ofPerson'>): string | undefined => {
  if (typeof ofPerson === 'object') return `names a person, as a ${ofPerson.names}`
  return ofPerson === 'personal' ? 'personal' : undefined
}
